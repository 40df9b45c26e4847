//! `tenter conversation`: what is stored, and what can be done with it. Looking changes nothing, not even by making a store.

mod delete;
mod export;
mod fork;
mod list;
mod markdown;
mod restore;
mod show;

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use serde::Serialize;
use tenter_agent::store::{Change, ChangeKind, Store, Summary};
use tenter_protocol::event::Usage;

use super::Done;
use crate::env::Env;
use crate::failure::Failure;
use crate::render::status_words;
use crate::sanitize::one_line;

/// List, search, show and export stored conversations; fork, restore and delete them.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the conversations of this project, that which was saved to last first, or those in which something was said.
    List(list::Args),
    /// Show a conversation: its messages, where each comes from, and where its history was replaced.
    Show(show::Args),
    /// Write a conversation down as Markdown, or whole as JSON.
    Export(export::Args),
    /// Begin a new conversation with the messages of another one, which stays as it is. Prints its id.
    Fork(fork::Args),
    /// Put back a history that was replaced, by a hook or by a summary.
    Restore(restore::Args),
    /// Delete conversations, and those of the subagents that they started, for good.
    Delete(delete::Args),
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, command: &Command) -> Done {
    match command {
        Command::List(args) => list::run(env, project, args),
        Command::Show(args) => show::run(env, project, args),
        Command::Export(args) => export::run(env, project, args),
        Command::Fork(args) => fork::run(env, project, args),
        Command::Restore(args) => restore::run(env, project, args),
        Command::Delete(args) => delete::run(env, project, args),
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

/// The store, where there must be something in it.
fn open_what_is_stored(env: &Env) -> Result<Store, Failure> {
    open_store(env)?.ok_or_else(|| {
        Failure::new("no conversation is stored yet").help("`tenter run` begins one")
    })
}

/// The id of the conversation that is named by the beginning of its id, or as the newest of the project by "last".
fn find(store: &Store, root: &Path, wanted: &str) -> Result<String, Failure> {
    if wanted != "last" {
        let advice = "`tenter conversation list --all --subagents` shows what there is";
        return store.find(wanted).map_err(|error| Failure::from(error).help(advice));
    }
    store.newest(Some(root))?.ok_or_else(|| {
        Failure::new(format!("no conversation of {} is stored yet", root.display()))
            .help("`tenter conversation list --all` shows those of other projects")
    })
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
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from: Option<&'s str>,
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
            forked_from: summary.forked_from.as_deref(),
            message_count: summary.message_count,
            preview: &summary.preview,
            status: summary.status.as_deref(),
            usage: summary.usage,
        }
    }
}

/// The status in a word. A conversation without one is being worked on, or its process was killed.
fn status_word(summary: &Summary) -> &str {
    summary.status.as_deref().map_or("unfinished", status_words)
}

/// Who changed a history, in words.
fn changed_by(change: &Change) -> String {
    let named = |what: &str| format!("{what} {}", one_line(&change.by, 80));
    match (change.by.as_str(), change.kind) {
        ("user", _) => "the user".to_owned(),
        (_, ChangeKind::Compact) => named("recipe"),
        (_, ChangeKind::Mutate | ChangeKind::Restore) => named("hook"),
    }
}

/// Tokens and, where it is known, what they cost.
fn spent(usage: &Usage) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let cost = usage.cost_usd.map(|cost| format!(" · ${cost:.4}")).unwrap_or_default();
    format!("{about}{} tokens in, {} out{cost}", usage.input_tokens, usage.output_tokens)
}

fn counted_messages(count: u64) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}
