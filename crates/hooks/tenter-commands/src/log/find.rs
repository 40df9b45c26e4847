//! Finds the records that the arguments of `tenter log` select.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use tenter_engine::journal::JournalDirectories;
use tenter_terminal::{Env, Failure};

use super::Args;
use super::journals::{self, Journals, Newest};
use super::selection::{JournalSelection, OfProject};
use crate::OwnAgent;

/// Selects the newest session instead of an id.
const LAST: &str = "last";

/// Returns the records that the arguments select; `None` if they select the newest session and there is none.
pub(super) fn find(
    env: &Env,
    root: &Path,
    args: &Args,
    agent: &'static dyn OwnAgent,
) -> Result<Option<JournalSelection>, Failure> {
    match args.session.as_deref() {
        Some(LAST) => Ok(last(env, root, agent)?.map(JournalSelection::Conversation)),
        Some(id) => conversation(env, id, agent).map(Some),
        None if args.all => Ok(Some(JournalSelection::All)),
        None => Ok(Some(JournalSelection::Project(OfProject::new(env, root, agent)))),
    }
}

/// Returns the project's newest session: in the journal, or in the store, where no hook may have run in it.
fn last(env: &Env, root: &Path, agent: &'static dyn OwnAgent) -> Result<Option<String>, Failure> {
    let project = JournalSelection::Project(OfProject::new(env, root, agent));
    let newest = Newest {
        limit: Some(NonZeroUsize::MIN),
        since: None,
        continues: false,
        shows: &|_| Some(true),
    };
    let newest_journal = Journals::new(env.journals(), project).read_newest(&newest)?.lines.pop();
    let conversations = agent.conversations(env, Some(root), 1)?.pop();
    let newest_journal = newest_journal.map(|it| (it.line.record.time, it.session));
    let conversation =
        conversations.map(|conversations| (conversations.updated_at, conversations.id));
    Ok([newest_journal, conversation].into_iter().flatten().max().map(|(_, id)| id))
}

/// Returns the conversation whose id begins with `prefix`: one with a journal (unsaved ones have one, too), else a subagent, else
/// one in the store, in which no hook ran.
fn conversation(
    env: &Env,
    prefix: &str,
    agent: &dyn OwnAgent,
) -> Result<JournalSelection, Failure> {
    if prefix.is_empty() {
        return Err(Failure::usage("--session needs the beginning of an id, or `last`"));
    }
    let journals = env.journals();
    let sessions = journals::all(&journals)?;
    let beginning: Vec<&String> = sessions.iter().filter(|id| id.starts_with(prefix)).collect();
    if let Some(id) = only(prefix, &beginning)? {
        return Ok(JournalSelection::Conversation(id.clone()));
    }
    let subagents = subagents(&journals, &sessions, prefix);
    let ids: Vec<&String> = subagents.keys().collect();
    if let Some(id) = only(prefix, &ids)? {
        return Ok(JournalSelection::Subagent { id: id.clone(), parent: subagents[id].clone() });
    }
    let conversations = agent.find_conversation(env, prefix)?;
    conversations.map(JournalSelection::Conversation).ok_or_else(|| {
        Failure::new(format!("no conversation begins with {prefix:?}")).help(
            "`tenter log --all` shows all that is recorded, `tenter conversation list` what is stored",
        )
    })
}

/// Returns the id that equals `prefix`, or the only one.
fn only<'i>(prefix: &str, ids: &[&'i String]) -> Result<Option<&'i String>, Failure> {
    if let Some(exact) = ids.iter().find(|id| **id == prefix) {
        return Ok(Some(exact));
    }
    match ids {
        [] => Ok(None),
        [id] => Ok(Some(id)),
        several => {
            let ids: Vec<&str> = several.iter().map(|id| id.as_str()).collect();
            let message =
                format!("several conversations begin with {prefix:?}: {}", ids.join(", "));
            Err(Failure::new(message).help("type more characters of the id"))
        }
    }
}

/// Returns the subagents whose ids begin with `prefix`, with their parents.
fn subagents(
    journals: &JournalDirectories,
    ids: &[String],
    prefix: &str,
) -> BTreeMap<String, String> {
    let lines = ids.iter().flat_map(|id| journals.read(id).unwrap_or_default().lines);
    lines
        .filter(|line| line.record.conversation_id.starts_with(prefix))
        .filter_map(|line| Some((line.record.conversation_id, line.record.parent_conversation_id?)))
        .collect()
}
