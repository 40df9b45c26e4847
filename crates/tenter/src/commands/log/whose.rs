//! Whose records are asked for.

use std::collections::BTreeMap;
use std::path::Path;

use tenter_agent::store::StoreError;
use tenter_engine::journal;

use super::{Args, journals};
use crate::commands::conversation::open_store;
use crate::env::Env;
use crate::failure::Failure;
use crate::hooks;

/// Whose records are shown.
#[derive(Debug, PartialEq)]
pub(super) enum Whose {
    /// Everybody's.
    All,
    /// A conversation's, with those of its subagents.
    Conversation(String),
    /// A subagent's, which stand in its parent's journal.
    Subagent {
        /// The subagent's conversation.
        id: String,
        /// Its parent's.
        parent: String,
    },
}

/// Whose records the arguments ask for; none where a project without conversations is to be followed.
pub(super) fn find(
    env: &Env,
    project: Option<&Path>,
    args: &Args,
) -> Result<Option<Whose>, Failure> {
    if let Some(wanted) = &args.conversation {
        return conversation(env, wanted).map(Some);
    }
    if !args.follow {
        return Ok(Some(Whose::All));
    }
    let root = hooks::root(env, project)?;
    let newest = open_store(env)?.map(|store| store.newest(Some(&root))).transpose()?;
    Ok(newest.flatten().map(Whose::Conversation))
}

/// The conversation whose id begins with `wanted`: one with a journal (unsaved ones have one, too), else a subagent, else
/// one in the store, in which no hook ran.
fn conversation(env: &Env, wanted: &str) -> Result<Whose, Failure> {
    if wanted.is_empty() {
        return Err(Failure::usage("--conversation needs the beginning of an id"));
    }
    let folder = env.journal_dir();
    let journals = journals::all(&folder)?;
    let beginning: Vec<&String> = journals.iter().filter(|id| id.starts_with(wanted)).collect();
    if let Some(id) = only(wanted, &beginning)? {
        return Ok(Whose::Conversation(id.clone()));
    }
    let subagents = subagents(&folder, &journals, wanted);
    let ids: Vec<&String> = subagents.keys().collect();
    if let Some(id) = only(wanted, &ids)? {
        return Ok(Whose::Subagent { id: id.clone(), parent: subagents[id].clone() });
    }
    stored(env, wanted)
}

/// The one that is meant: that which is `wanted` to the letter, or the only one.
fn only<'i>(wanted: &str, ids: &[&'i String]) -> Result<Option<&'i String>, Failure> {
    if let Some(exact) = ids.iter().find(|id| **id == wanted) {
        return Ok(Some(exact));
    }
    match ids {
        [] => Ok(None),
        [id] => Ok(Some(id)),
        several => {
            let ids: Vec<&str> = several.iter().map(|id| id.as_str()).collect();
            let message =
                format!("several conversations begin with {wanted:?}: {}", ids.join(", "));
            Err(Failure::new(message).help("give more of the id"))
        }
    }
}

/// Subagents whose ids begin with `wanted`, with their parents.
fn subagents(folder: &Path, journals: &[String], wanted: &str) -> BTreeMap<String, String> {
    let lines = journals.iter().flat_map(|id| journal::read(folder, id).unwrap_or_default().lines);
    lines
        .filter(|line| line.record.conversation_id.starts_with(wanted))
        .filter_map(|line| Some((line.record.conversation_id, line.record.parent_conversation_id?)))
        .collect()
}

fn stored(env: &Env, wanted: &str) -> Result<Whose, Failure> {
    let unknown = || {
        Failure::new(format!("no conversation begins with {wanted:?}")).help(
            "`tenter log` shows all that is recorded, `tenter conversation list` what is stored",
        )
    };
    let store = open_store(env)?.ok_or_else(unknown)?;
    match store.find(wanted) {
        Ok(id) => Ok(Whose::Conversation(id)),
        Err(StoreError::NotFound { .. }) => Err(unknown()),
        Err(error) => Err(error.into()),
    }
}
