//! `tenter conversation restore`.

use std::path::Path;

use serde_json::{Value, json};
use tenter_agent::store::{Epoch, Restore, Store};
use tenter_base::rfc3339;
use tenter_commands::project;
use tenter_terminal::{
    CommandResult, Env, Exit, FAINT, Failure, GOOD, NAME, now, numbers, styled, ui,
};

use super::{changed_by, counted_messages, find, open_existing_store};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The conversation: a prefix of its id, or "last" for the newest of this project.
    id: String,
    /// Restore the history with this number instead of the previous one.
    #[arg(long, value_name = "N", value_parser = numbers::whole::<u64>, conflicts_with = "list")]
    epoch: Option<u64>,
    /// List the histories and change nothing.
    #[arg(long)]
    list: bool,
    /// Print the list as a JSON array: epoch, at, kind, by, reason, message_count, present.
    #[arg(long, requires = "list")]
    json: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let store = open_existing_store(env)?;
    let id = find(&store, &project::root(env, project)?, &args.id)?;
    if args.list {
        return list(&store, &id, args.json);
    }
    let restore = Restore { id: &id, epoch: args.epoch, at: &rfc3339(now()) };
    let epoch = store.restore(&restore).map_err(|error| {
        Failure::caused_by(error)
            .help("`tenter conversation restore ID --list` lists its histories")
    })?;
    let count =
        counted_messages(store.load(&id).map_err(Failure::caused_by)?.summary.message_count);
    ui::note(format!("The history of {id} is restored from number {epoch}: {count}."));
    Ok(Exit::Done)
}

fn list(store: &Store, id: &str, as_json: bool) -> CommandResult {
    let start = store.load(id).map_err(Failure::caused_by)?.summary.created_at;
    let epochs = store.history(id).map_err(Failure::caused_by)?;
    let rows: Vec<EpochRow> =
        epochs.iter().map(|epoch| EpochRow::new(epoch, &start, epochs.len())).collect();
    if as_json {
        let objects: Vec<Value> = rows.iter().map(EpochRow::json).collect();
        ui::json(&objects);
    } else {
        rows.iter().map(EpochRow::line).for_each(ui::out);
    }
    Ok(Exit::Done)
}

/// A history in the list.
struct EpochRow<'e> {
    epoch: &'e Epoch,
    /// When it became the conversation's history.
    at: &'e str,
    /// True if it still is.
    present: bool,
}

impl<'e> EpochRow<'e> {
    fn new(epoch: &'e Epoch, start: &'e str, epochs: usize) -> Self {
        let at = epoch.change.as_ref().map_or(start, |change| &change.at);
        Self { epoch, at, present: epoch.number + 1 == epochs as u64 }
    }

    fn json(&self) -> Value {
        let change = self.epoch.change.as_ref();
        json!({
            "epoch": self.epoch.number,
            "at": self.at,
            "kind": change.map(|change| change.kind.as_str()),
            "by": change.map(|change| &change.by),
            "reason": change.and_then(|change| change.reason.as_ref()),
            "message_count": self.epoch.entries.len(),
            "present": self.present,
        })
    }

    fn line(&self) -> String {
        let mut parts = vec![
            styled(NAME, format!("{:>3}", self.epoch.number)),
            ui::short_time(self.at),
            format!("{:>12}", counted_messages(self.epoch.entries.len() as u64)),
        ];
        parts.push(match &self.epoch.change {
            None => styled(FAINT, "original"),
            Some(change) => format!("{} by {}", change.kind.as_str(), changed_by(change)),
        });
        if self.present {
            parts.push(styled(GOOD, "present"));
        }
        parts.join("  ")
    }
}
