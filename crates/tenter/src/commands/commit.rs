//! `tenter commit`: the model writes the message for what is staged, the person looks it over, git commits.

use std::path::Path;

use tenter_proc::Cancel;

use super::Done;
use crate::agent::writing::{self, WritingArgs};
use crate::draft::Draft;
use crate::env::Env;
use crate::failure::{Exit, Failure};
use crate::git::Git;
use crate::project::Project;
use crate::sanitize::sanitize;
use crate::signals::Interrupts;
use crate::ui;

/// The recipe that asks for the message.
const RECIPE: &str = "commit";

/// Commit what is staged with a message that the model writes.
///
/// The recipe `commit` asks for it; a recipe of your own with that name takes its place. The message is printed; on a terminal
/// you take it, edit it or decline it. Elsewhere nothing is committed without --no-confirm, and the command fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only a first line.
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    writing: WritingArgs,
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let mut project = Project::open(env, project)?;
    let cancel = Cancel::new();
    let interrupts = Interrupts::catch(&cancel)?;
    let folder = project.root().to_owned();
    let vars = project.program_environment();
    let git = Git { folder: &folder, vars: &vars, cancel: &cancel };
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
    let done = git
        .perform("git", &["commit", "-F", "-"], &message)
        .map_err(|failure| failure.help("nothing was committed; the message is printed above"))?;
    ui::note(sanitize(&done));
    Ok(Exit::Done)
}

fn check_staged(git: &Git) -> Result<(), Failure> {
    if git.holds(&["diff", "--cached", "--quiet"]) {
        return Err(Failure::new("nothing is staged, so there is nothing to commit")
            .help("stage what belongs into the commit: `git add FILE`, or `git add -p`"));
    }
    Ok(())
}
