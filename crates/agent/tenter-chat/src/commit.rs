//! `tenter commit`: the model writes a message for the staged changes, the user reviews it, git commits.

use std::path::Path;

use tenter_base::sanitize;
use tenter_commands::git::Git;
use tenter_commands::project::Project;
use tenter_proc::Cancel;
use tenter_terminal::signals::Interrupts;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};

use crate::agent::writing::{self, WritingArgs};
use crate::draft::Draft;

/// The recipe that writes the message.
const RECIPE: &str = "commit";

/// Commit the staged changes with a message from the model.
///
/// The recipe `commit` writes it; your own recipe with that name replaces it. The message is printed, and on a terminal you
/// accept, edit or reject it. Without a terminal, nothing is committed unless you pass --no-confirm, and the command fails.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write only the first line.
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    writing: WritingArgs,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let mut project = Project::open(env, project)?;
    let cancel = Cancel::new();
    let interrupts = Interrupts::catch(&cancel)?;
    let directory = project.root().to_owned();
    let vars = project.program_environment();
    let git = Git { directory: &directory, vars: &vars, cancel: &cancel };
    git.check_repository()?;
    check_staged(&git)?;
    let more = if args.short { vec![("short".to_owned(), "yes".to_owned())] } else { Vec::new() };
    let mut message = writing::write(&mut project, RECIPE, &args.writing, more, &cancel)?;
    if args.short {
        message.truncate(message.lines().next().unwrap_or_default().len());
    }
    let words = ("Commit with this message?", "nothing was committed");
    let (git, interrupts) = (&git, &interrupts);
    let draft = Draft { env, git, interrupts, file_name: "COMMIT_EDITMSG", words };
    let Some(message) = draft.decide(&message, args.writing.yes)? else { return Ok(Exit::Failed) };
    interrupts.aim(&cancel);
    let result = git
        .perform("git", &["commit", "-F", "-"], &message)
        .map_err(|failure| failure.help("nothing was committed; the message is printed above"))?;
    ui::note(sanitize(&result));
    Ok(Exit::Done)
}

fn check_staged(git: &Git) -> Result<(), Failure> {
    if git.holds(&["diff", "--cached", "--quiet"]) {
        return Err(Failure::new("nothing is staged")
            .help("stage changes with `git add FILE` or `git add -p`"));
    }
    Ok(())
}
