//! `tenter conversation`: stored conversations. Commands that only read change nothing and create no store.

mod delete;
pub(crate) mod export;
mod fork;
mod list;
mod markdown;
mod restore;
mod show;

use std::fs;
use std::path::Path;
use tenter_commands::Deferred;

use serde_json::{Value, json};
use tenter_agent::store::{ChangeKind, RecordedChange, Store, Summary};
use tenter_base::one_line;
use tenter_protocol::event::Usage;
use tenter_terminal::{CommandResult, Env, Failure, ui};

use crate::picker::{self, PickerEntry};
use crate::render::status_words;

/// List, search, show and export stored conversations; fork, restore and delete them.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List or search the conversations of this project, newest first.
    List(Deferred<list::Args>),
    /// Show the messages of a conversation and the changes of its history.
    Show(Deferred<show::Args>),
    /// Export a conversation as Markdown or JSON.
    Export(Deferred<export::Args>),
    /// Create a new conversation from the messages of another.
    Fork(Deferred<fork::Args>),
    /// Restore a history that a hook or a summary replaced.
    Restore(Deferred<restore::Args>),
    /// Delete conversations, with the conversations of their subagents.
    Delete(Deferred<delete::Args>),
}

/// Lets the user choose a conversation by its title, and returns its index.
pub(crate) fn pick(conversations: &[Summary]) -> Option<usize> {
    let entry = |summary: &Summary| PickerEntry {
        title: list::title(summary),
        details: format!(
            "{} · {} · {}",
            list::directory_name(&summary.project),
            ui::short_time(&summary.updated_at),
            counted_messages(summary.message_count)
        ),
    };
    let entries: Vec<PickerEntry> = conversations.iter().map(entry).collect();
    picker::pick("Continue which conversation? (↑ ↓ Enter, Ctrl-C leaves)", &entries)
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    match command {
        Command::List(args) => list::run(env, project, args),
        Command::Show(args) => show::run(env, project, args),
        Command::Export(args) => export::run(env, project, args),
        Command::Fork(args) => fork::run(env, project, args),
        Command::Restore(args) => restore::run(env, project, args),
        Command::Delete(args) => delete::run(env, project, args),
    }
}

/// Opens the store; `None` if nothing was ever stored.
pub fn open_store(env: &Env) -> Result<Option<Store>, Failure> {
    let file = env.store_file();
    match fs::exists(&file) {
        Ok(true) => Ok(Some(Store::open(&file).map_err(Failure::caused_by)?)),
        Ok(false) => Ok(None),
        Err(error) => Err(Failure::new(format!("cannot read {}: {error}", file.display()))),
    }
}

/// Opens the store, which must exist.
fn open_existing_store(env: &Env) -> Result<Store, Failure> {
    open_store(env)?
        .ok_or_else(|| Failure::new("no conversation is stored").help("`tenter run` starts one"))
}

/// Returns the id of a conversation, from a prefix of it, or from "last" for the newest of the project.
fn find(store: &Store, root: &Path, prefix: &str) -> Result<String, Failure> {
    if prefix != "last" {
        let advice = "`tenter conversation list --all --subagents` lists all conversations";
        return store.find(prefix).map_err(|error| Failure::caused_by(error).help(advice));
    }
    store.newest(Some(root)).map_err(Failure::caused_by)?.ok_or_else(|| {
        Failure::new(format!("no conversation of {} is stored", root.display()))
            .help("`tenter conversation list --all` lists other projects")
    })
}

/// Returns a conversation as JSON. `status` is null during a session, and after a session was killed.
fn summary_json(summary: &Summary) -> Value {
    let mut object = json!({
        "id": summary.id,
        "created_at": summary.created_at,
        "updated_at": summary.updated_at,
        "project": summary.project.to_string_lossy(),
        "model": summary.model,
    });
    for (key, id) in [("parent_id", &summary.parent), ("forked_from", &summary.forked_from)] {
        if let Some(id) = id {
            object[key] = id.as_str().into();
        }
    }
    object["message_count"] = summary.message_count.into();
    object["preview"] = summary.preview.as_str().into();
    object["status"] = json!(summary.status);
    object["usage"] = json!(summary.usage);
    object
}

/// Returns the status as a word. Without one, a session is running or was killed.
fn status_word(summary: &Summary) -> &str {
    summary.status.as_deref().map_or("unfinished", status_words)
}

/// Returns the author of a change of the history, for display.
fn changed_by(change: &RecordedChange) -> String {
    let with_name = |what: &str| format!("{what} {}", one_line(&change.by, 80));
    match (change.by.as_str(), change.kind) {
        ("user", _) => "the user".to_owned(),
        (_, ChangeKind::Compact) => with_name("recipe"),
        (_, ChangeKind::Mutate | ChangeKind::Restore) => with_name("hook"),
    }
}

/// Returns the number of tokens and, if known, their cost.
fn usage_text(usage: &Usage) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let cost = usage.cost_usd.map(|cost| format!(" · ${cost:.4}")).unwrap_or_default();
    format!("{about}{} tokens in, {} out{cost}", usage.input_tokens, usage.output_tokens)
}

fn counted_messages(count: u64) -> String {
    tenter_base::format_count(count, "message", "messages")
}
