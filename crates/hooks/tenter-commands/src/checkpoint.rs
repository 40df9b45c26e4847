//! `tenter checkpoint`: the states of the files that the ready-made hook `checkpoint` keeps.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use tenter_base::{sanitize, visible};
use tenter_engine::inspect::{Checkpoint, Checkpoints, Environment};
use tenter_terminal::{
    CommandResult, Env, Exit, FAINT, Failure, GOOD, NAME, now, signals, styled, ui,
};

use crate::project::Project;
use crate::user_only;

/// Number of checkpoints that a restore keeps.
const KEEP: usize = 100;

/// List, show and restore earlier states of the files.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the checkpoints of this worktree, the newest first.
    List {
        /// Print a JSON array: id, time, label.
        #[arg(long)]
        json: bool,
    },
    /// Show what changed since a checkpoint.
    Show {
        /// The checkpoint [default: the newest].
        id: Option<String>,
        /// Show the changes of the files, not only their names.
        #[arg(long)]
        diff: bool,
    },
    /// Make the files as they were at a checkpoint.
    ///
    /// The present files become a checkpoint first. The branch and git's index stay as they are, and so do files that git ignores.
    Restore {
        /// The checkpoint.
        id: String,
    },
}

#[derive(Serialize)]
struct ListedCheckpoint<'c> {
    id: &'c str,
    time: String,
    label: &'c str,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    let project = Project::open(env, project)?;
    let cancel = signals::cancel()?;
    let environment: Environment = project.program_environment();
    let checkpoints = Checkpoints {
        directory: project.root(),
        environment: &environment,
        timeout: Duration::MAX,
        cancel: &cancel,
    };
    match command {
        Command::List { json } => list(&checkpoints, *json),
        Command::Show { id, diff } => show(&checkpoints, id.as_deref(), *diff),
        Command::Restore { id } => {
            user_only::check(env, project.root(), "checkpoint restore")?;
            restore(&checkpoints, id)
        }
    }
}

fn all(checkpoints: &Checkpoints<'_>) -> Result<Vec<Checkpoint>, Failure> {
    checkpoints.list().map_err(|why| {
        Failure::new(format!("cannot list the checkpoints: {why}"))
            .help("checkpoints are kept in git: run this in a git repository")
    })
}

fn list(checkpoints: &Checkpoints<'_>, json: bool) -> CommandResult {
    let all = all(checkpoints)?;
    if json {
        let rows = all.iter().map(|checkpoint| ListedCheckpoint {
            id: &checkpoint.id,
            time: Timestamp::from_second(checkpoint.time).unwrap_or_default().to_string(),
            label: &checkpoint.label,
        });
        let rows: Vec<ListedCheckpoint<'_>> = rows.collect();
        ui::json(&rows);
        return Ok(Exit::Done);
    }
    for checkpoint in &all {
        let time = Timestamp::from_second(checkpoint.time).unwrap_or_default();
        let time = time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
        let (id, label) = (styled(NAME, &checkpoint.id), visible(&checkpoint.label));
        ui::out(format!("{id}  {}  {label}", styled(FAINT, time)));
    }
    if all.is_empty() {
        ui::note(
            "There is no checkpoint. `tenter hooks add checkpoint` makes one at each message.",
        );
    }
    Ok(Exit::Done)
}

fn show(checkpoints: &Checkpoints<'_>, id: Option<&str>, diff: bool) -> CommandResult {
    let id = existing(checkpoints, id)?;
    let args: &[&str] = if diff { &["-p"] } else { &["--stat", "--summary"] };
    let changes = checkpoints.changes(&id, args);
    let changes =
        changes.map_err(|why| Failure::new(format!("cannot compare the files: {why}")))?;
    if changes.is_empty() {
        ui::note(format!("No file changed since {}.", styled(NAME, &id)));
    } else {
        ui::out(sanitize(&changes));
    }
    Ok(Exit::Done)
}

fn restore(checkpoints: &Checkpoints<'_>, id: &str) -> CommandResult {
    let id = existing(checkpoints, Some(id))?;
    let before = checkpoints.restore(&id, now().as_millisecond(), KEEP);
    let before = before.map_err(|why| Failure::new(format!("cannot restore {id}: {why}")))?;
    ui::note(format!("{} the files of {}.", styled(GOOD, "Restored"), styled(NAME, &id)));
    if let Some(before) = before {
        ui::note(format!("`tenter checkpoint restore {before}` undoes it."));
    }
    Ok(Exit::Done)
}

/// Returns the id of the checkpoint that is named, or of the newest one.
fn existing(checkpoints: &Checkpoints<'_>, id: Option<&str>) -> Result<String, Failure> {
    let all = all(checkpoints)?;
    let checkpoint = match id {
        None => all.first(),
        Some(id) => all.iter().find(|checkpoint| checkpoint.id == id),
    };
    let checkpoint = checkpoint.ok_or_else(|| match id {
        Some(id) => Failure::usage(format!("there is no checkpoint {id:?}"))
            .help("`tenter checkpoint list` lists them"),
        None => Failure::new("there is no checkpoint")
            .help("`tenter hooks add checkpoint` makes one at each message"),
    })?;
    Ok(checkpoint.id.clone())
}
