//! `tenter man`: manual pages, one for each command.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use tenter_terminal::{CommandResult, Exit, Failure, ui};

/// Print the manual page, or write the pages of all commands.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write tenter.1 and a page for each command into this directory.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A page and the name of its file.
struct ManPage {
    file: String,
    text: Vec<u8>,
}

/// Prints the manual page of `app`, or writes the pages of all its commands.
pub fn run(mut app: Command, args: &Args) -> CommandResult {
    app.build();
    let Some(directory) = &args.out else {
        ui::out_piece(String::from_utf8_lossy(&page(&app, None).text));
        return Ok(Exit::Done);
    };
    let failure = |path: &Path, error: io::Error| {
        Failure::new(format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(directory).map_err(|error| failure(directory, error))?;
    let mut pages = Vec::new();
    collect(&app, None, &mut pages);
    for page in &pages {
        let path = directory.join(&page.file);
        fs::write(&path, &page.text).map_err(|error| failure(&path, error))?;
    }
    ui::note(format!("Wrote {} pages to {}.", pages.len(), directory.display()));
    Ok(Exit::Done)
}

/// Adds the pages of a command and its subcommands.
fn collect(command: &Command, parent: Option<&Command>, pages: &mut Vec<ManPage>) {
    pages.push(page(command, parent));
    for subcommand in shown(command) {
        collect(subcommand, Some(command), pages);
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Returns the name of a command's page.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command, parent: Option<&Command>) -> ManPage {
    let version = command.get_version().unwrap_or_default();
    let page = Man::new(command.clone()).source(format!("Tenter {version}")).manual("Tenter");
    let mut text = Vec::new();
    // A vector accepts everything.
    let _ = page.render(&mut text);
    let _ = see_also(command, parent).to_writer(&mut text);
    ManPage { file: format!("{}.1", name(command)), text }
}

/// Returns the pages above and below, and the manual in the program.
fn see_also(command: &Command, parent: Option<&Command>) -> Roff {
    let related = parent.into_iter().chain(shown(command));
    let mut line: Vec<Inline> = Vec::new();
    for other in related {
        line.extend([bold(name(other)), roman("(1), ")]);
    }
    line.extend([bold("tenter help"), roman(" (the manual in the program)")]);
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]).text(line);
    roff
}
