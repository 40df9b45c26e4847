//! `tenter conversation fork`.

use std::path::Path;

use tenter_agent::store::{Fork, new_conversation_id};
use tenter_base::rfc3339;
use tenter_commands::project;
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, numbers, ui};

use super::{counted_messages, find, open_existing_store};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The conversation: a prefix of its id, or "last" for the newest of this project.
    id: String,
    /// Copy only the first N messages of its current history.
    #[arg(long, value_name = "N", value_parser = numbers::whole::<u64>)]
    at: Option<u64>,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let store = open_existing_store(env)?;
    let source = find(&store, &project::root(env, project)?, &args.id)?;
    let now = now();
    let id = new_conversation_id(now);
    let fork = Fork { source: &source, id: &id, messages: args.at, at: &rfc3339(now) };
    let count = store.fork(&fork).map_err(|error| {
        Failure::caused_by(error).help(
            "--at counts the messages that `tenter conversation show` shows; a tool's result is in the message after its call",
        )
    })?;
    ui::out(&id);
    ui::note(format!(
        "It has {}. To continue: tenter run --resume {id} …",
        counted_messages(count)
    ));
    Ok(Exit::Done)
}
