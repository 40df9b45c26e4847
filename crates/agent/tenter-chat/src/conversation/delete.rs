//! `tenter conversation delete`: deletes conversations by name or by age, after a confirmation.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use tenter_agent::snapshot;
use tenter_agent::store::{Store, Summary};
use tenter_base::rfc3339;
use tenter_commands::project;
use tenter_terminal::question::{confirm, read_at_terminal};
use tenter_terminal::{CommandResult, Env, Exit, Failure, NOTICE, now, styled, ui};

use super::{find, list, open_existing_store};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The conversations: a prefix of each id, or "last" for the newest of this project.
    #[arg(value_name = "ID", required_unless_present = "older_than")]
    ids: Vec<String>,
    /// Delete the project's conversations that have not changed for this long: 30d, 12h or 4w.
    #[arg(long, value_name = "AGE", value_parser = age, conflicts_with = "ids")]
    older_than: Option<SignedDuration>,
    /// With --older-than: delete conversations of all projects.
    #[arg(long, requires = "older_than")]
    all: bool,
    /// Do not ask for confirmation.
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let store = open_existing_store(env)?;
    let root = project::root(env, project)?;
    let summaries = selected(&store, &root, args)?;
    if summaries.is_empty() {
        ui::note("No conversation is that old.");
        return Ok(Exit::Done);
    }
    if !args.yes && !ask(&summaries)? {
        ui::note("Nothing was deleted.");
        return Ok(Exit::Done);
    }
    let ids: Vec<String> = summaries.into_iter().map(|summary| summary.id).collect();
    let count = store.delete(&ids).map_err(Failure::caused_by)?;
    forget(env, &ids);
    ui::note(match count - ids.len().min(count) {
        0 => format!("Deleted {}.", format_count(ids.len())),
        subagents => format!("Deleted {}, and {subagents} of subagents.", format_count(ids.len())),
    });
    Ok(Exit::Done)
}

/// Removes what hooks keep for these conversations, and the snapshots of files. What stays is removed when it is old.
fn forget(env: &Env, ids: &[String]) {
    let directories = env.directories();
    for id in ids {
        if let Err(error) = directories.forget_conversation(id) {
            ui::note(format!("The state of hooks in conversation {id} cannot be removed: {error}"));
        }
    }
    if let Err(error) = snapshot::forget(&env.snapshot_dir(), ids) {
        ui::note(format!("The snapshots of files cannot be removed: {error}"));
    }
}

/// Returns the conversations to delete.
fn selected(store: &Store, root: &Path, args: &Args) -> Result<Vec<Summary>, Failure> {
    if let Some(age) = args.older_than {
        let before = now().checked_sub(age).unwrap_or(Timestamp::MIN);
        return store
            .older_than(&rfc3339(before), Some(root).filter(|_| !args.all))
            .map_err(Failure::caused_by);
    }
    let ids: Result<Vec<String>, Failure> =
        args.ids.iter().map(|id| find(store, root, id)).collect();
    let mut ids = ids?;
    ids.sort();
    ids.dedup();
    ids.iter()
        .map(|id| store.load(id).map(|conversation| conversation.summary))
        .collect::<Result<_, _>>()
        .map_err(Failure::caused_by)
}

/// Asks the user for confirmation.
///
/// # Errors
/// There is no terminal.
fn ask(summaries: &[Summary]) -> Result<bool, Failure> {
    if !Env::can_ask() {
        return Err(Failure::usage("cannot ask for confirmation: there is no terminal")
            .help("pass --yes to delete without confirmation"));
    }
    ui::note(format!(
        "{} To be deleted permanently, with those of their subagents:",
        styled(NOTICE, "?")
    ));
    for summary in summaries {
        ui::note(format!("  {}", list::line(summary, true)));
    }
    Ok(confirm(&format!("Delete {}?", format_count(summaries.len())), &mut read_at_terminal))
}

fn format_count(count: usize) -> String {
    tenter_base::format_count(count, "conversation", "conversations")
}

/// Parses an age: a whole number and `h`, `d` or `w`.
fn age(text: &str) -> Result<SignedDuration, String> {
    let read = || {
        let unit = text.chars().last()?;
        let number: i64 = text.strip_suffix(unit)?.parse().ok().filter(|number| *number >= 0)?;
        let hours = match unit {
            'h' => 1,
            'd' => 24,
            'w' => 24 * 7,
            _ => return None,
        };
        number.checked_mul(hours)?.checked_mul(3600).map(SignedDuration::from_secs)
    };
    read().ok_or_else(|| "an age is a number of hours, days or weeks: 12h, 30d, 4w".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_number_and_a_unit() {
        for (text, hours) in [("12h", 12), ("30d", 720), ("4w", 672), ("0d", 0)] {
            assert_eq!(age(text), Ok(SignedDuration::from_hours(hours)), "{text}");
        }
        for text in [
            "",
            "d",
            "30",
            "-1d",
            "1.5d",
            "30m",
            "1 d",
            "9999999999999999999d",
            "9223372036854775807w",
            "3é",
        ] {
            assert!(age(text).is_err(), "{text:?}");
        }
    }
}
