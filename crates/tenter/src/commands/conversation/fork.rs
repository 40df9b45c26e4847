//! `tenter conversation fork`.

use std::path::Path;

use tenter_agent::store::{Fork, new_conversation_id};
use tenter_base::rfc3339;

use super::{counted_messages, find, open_what_is_stored};
use crate::commands::Done;
use crate::env::{self, Env};
use crate::failure::{Exit, Failure};
use crate::project;
use crate::ui;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The conversation: the beginning of its id, or "last" for the newest of this project.
    id: String,
    /// Take only the first N messages of its present history.
    #[arg(long, value_name = "N")]
    at: Option<u64>,
}

/// Does it.
pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let store = open_what_is_stored(env)?;
    let source = find(&store, &project::root(env, project)?, &args.id)?;
    let now = env::now();
    let id = new_conversation_id(now);
    let fork = Fork { source: &source, id: &id, messages: args.at, at: &rfc3339(now) };
    let count = store.fork(&fork).map_err(|error| {
        Failure::from(error).help(
            "--at counts the messages that `tenter conversation show` shows; tools' results stand in the one after the call",
        )
    })?;
    ui::out(&id);
    ui::note(format!(
        "It begins with {}; go on with: tenter run --resume {id} …",
        counted_messages(count)
    ));
    Ok(Exit::Done)
}
