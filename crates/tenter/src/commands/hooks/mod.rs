//! `tenter hooks`: list, look at, make and try hooks.

mod entry;
mod list;
mod new;
mod report;
mod sample;
mod show;
mod template;
mod test;
mod understood;

use std::path::Path;

use tenter_engine::query::nearest;
use tenter_protocol::lifecycle::{TABLE, by_any_spelling, executable_spellings};
use tenter_protocol::{Diagnostic, EventName};

use super::Done;
use crate::env::Env;
use crate::failure::Failure;
use crate::hooks::Project;
use crate::ui;

/// List, look at, make and try hooks.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List every hook that is found: which run, and why the others do not.
    List(list::Args),
    /// Show all there is to know of one hook.
    Show(show::Args),
    /// Write a new hook that works as it is, to be changed at will.
    New(new::Args),
    /// Run a hook once on a sample payload or your own, and show how its answer is understood.
    Test(test::Args),
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, command: &Command) -> Done {
    let project = Project::open(env, project)?;
    match command {
        Command::List(args) => list::run(project, args),
        Command::Show(args) => show::run(project, args),
        Command::New(args) => new::run(project, args),
        Command::Test(args) => test::run(project, args),
    }
}

/// The events that a word means, in any spelling of either protocol.
fn events_named(word: &str) -> Result<Vec<EventName>, Failure> {
    let events = by_any_spelling(word);
    if !events.is_empty() {
        return Ok(events);
    }
    let names = || TABLE.iter().map(|row| row.name);
    let meant = nearest(word, names().chain(executable_spellings()));
    let meant = meant.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    let names: Vec<&str> = names().collect();
    let known = format!(
        "{} and, in the words of executables, {}",
        names.join(", "),
        executable_spellings().join(", ")
    );
    Err(Failure::usage(format!("there is no event {word:?}"))
        .help(format!("{meant}known are {known}")))
}

/// Shows what was found, but for that which every entry of a listing says of itself.
fn show_findings(project: &Project) {
    let of_entry = |finding: &Diagnostic| ["hook-invalid", "hook-shadowed"].contains(&finding.id);
    ui::diagnostics(project.findings().filter(|finding| !of_entry(finding)));
    if !project.settings.hooks_enabled {
        let file = project.env.config_file();
        ui::note(format!(
            "Hooks are switched off in {} (hooks.enabled = false): none runs.",
            file.display()
        ));
    }
}
