//! `tenter conversation`: list and show stored conversations. Looking changes nothing, not even by making a store.

mod list;
mod show;

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use serde::Serialize;
use tenter_agent::store::{Store, Summary};
use tenter_protocol::event::Usage;

use super::Done;
use crate::env::Env;
use crate::failure::Failure;

/// List and show stored conversations.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the conversations of this project, that which was saved to last first.
    List(list::Args),
    /// Show a conversation: its messages, where each comes from, and where its history was replaced.
    Show(show::Args),
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, command: &Command) -> Done {
    match command {
        Command::List(args) => list::run(env, project, args),
        Command::Show(args) => show::run(env, project, args),
    }
}

/// The store; none where nothing was ever stored.
pub(crate) fn open_store(env: &Env) -> Result<Option<Store>, Failure> {
    let file = env.store_file();
    match fs::exists(&file) {
        Ok(true) => Ok(Some(Store::open(&file)?)),
        Ok(false) => Ok(None),
        Err(error) => Err(Failure::new(format!("{} cannot be read: {error}", file.display()))),
    }
}

/// What `--json` says of a conversation.
#[derive(Debug, Serialize)]
struct SummaryJson<'s> {
    id: &'s str,
    created_at: &'s str,
    updated_at: &'s str,
    project: Cow<'s, str>,
    model: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<&'s str>,
    message_count: u64,
    preview: &'s str,
    /// Null while a session runs, and after one was killed.
    status: Option<&'s str>,
    usage: Usage,
}

impl<'s> From<&'s Summary> for SummaryJson<'s> {
    fn from(summary: &'s Summary) -> Self {
        Self {
            id: &summary.id,
            created_at: &summary.created_at,
            updated_at: &summary.updated_at,
            project: summary.project.to_string_lossy(),
            model: &summary.model,
            parent_id: summary.parent.as_deref(),
            message_count: summary.message_count,
            preview: &summary.preview,
            status: summary.status.as_deref(),
            usage: summary.usage,
        }
    }
}

/// The status in a word. A conversation without one is being worked on, or its process was killed.
fn status_word(summary: &Summary) -> &str {
    summary.status.as_deref().unwrap_or("unfinished")
}

fn counted_messages(count: u64) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}
