//! Which records `tenter log` shows: of all projects, one project or one conversation.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tenter_agent::store::{ListQuery, StoreError};
use tenter_engine::journal;

use super::journals::{Journals, SessionLine};
use super::{Args, journals};
use crate::commands::conversation::open_store;
use crate::env::Env;
use crate::failure::Failure;

/// Selects the newest session instead of an id.
const LAST: &str = "last";

/// Which records are shown.
pub(super) enum JournalSelection {
    /// Those of all projects.
    All,
    /// A project's.
    Project(OfProject),
    /// A conversation's, with those of its subagents.
    Conversation(String),
    /// A subagent's, which are in its parent's journal.
    Subagent {
        /// The subagent's conversation.
        id: String,
        /// Its parent's.
        parent: String,
    },
}

/// The records of one project. Records that name none, because an old version wrote them, are looked up in the store.
pub(super) struct OfProject {
    /// The project's root.
    pub(super) root: String,
    env: Env,
    /// The project's conversations in the store, once they were needed.
    stored: OnceCell<BTreeSet<String>>,
}

impl OfProject {
    fn new(env: &Env, root: &Path) -> Self {
        let (root, stored) = (root.to_string_lossy().into_owned(), OnceCell::new());
        Self { root, env: env.clone(), stored }
    }

    fn has(&self, of: &SessionLine) -> Result<bool, Failure> {
        match &of.line.record.project {
            Some(project) => Ok(*project == self.root),
            None => Ok(self.stored()?.contains(&of.session)),
        }
    }

    fn stored(&self) -> Result<&BTreeSet<String>, Failure> {
        if self.stored.get().is_none() {
            let project = Some(Path::new(&self.root));
            let query = ListQuery { project, limit: usize::MAX, include_subagents: false };
            let listed = open_store(&self.env)?.map(|store| store.list(&query)).transpose()?;
            let ids = listed.unwrap_or_default().into_iter().map(|summary| summary.id).collect();
            let _ = self.stored.set(ids);
        }
        Ok(self.stored.get_or_init(BTreeSet::new))
    }
}

impl JournalSelection {
    /// Keeps the selected lines.
    pub(super) fn retain(&self, lines: &mut Vec<SessionLine>) -> Result<(), Failure> {
        match self {
            Self::All | Self::Conversation(_) => {}
            Self::Subagent { id, .. } => {
                lines.retain(|it| it.line.record.conversation_id == *id);
            }
            Self::Project(project) => {
                let kept = lines.iter().map(|it| project.has(it));
                let mut kept = kept.collect::<Result<Vec<bool>, _>>()?.into_iter();
                lines.retain(|_| kept.next().unwrap_or(false));
            }
        }
        Ok(())
    }
}

/// The records that the arguments select; `None` if they select the newest session and there is none.
pub(super) fn find(
    env: &Env,
    root: &Path,
    args: &Args,
) -> Result<Option<JournalSelection>, Failure> {
    match args.session.as_deref() {
        Some(LAST) => Ok(last(env, root)?.map(JournalSelection::Conversation)),
        Some(wanted) => conversation(env, wanted).map(Some),
        None if args.all => Ok(Some(JournalSelection::All)),
        None => Ok(Some(JournalSelection::Project(OfProject::new(env, root)))),
    }
}

/// The project's newest session: in the journal, or in the store, where no hook may have run in it.
fn last(env: &Env, root: &Path) -> Result<Option<String>, Failure> {
    let project = JournalSelection::Project(OfProject::new(env, root));
    let recorded = Journals::new(env.journal_dir(), project).read()?.lines.pop();
    let query = ListQuery { project: Some(root), limit: 1, include_subagents: false };
    let listed = open_store(env)?.map(|store| store.list(&query)).transpose()?;
    let stored = listed.unwrap_or_default().pop();
    let recorded = recorded.map(|it| (it.line.record.time, it.session));
    let stored = stored.map(|summary| (summary.updated_at, summary.id));
    Ok([recorded, stored].into_iter().flatten().max().map(|(_, id)| id))
}

/// The conversation whose id begins with `wanted`: one with a journal (unsaved ones have one, too), else a subagent, else
/// one in the store, in which no hook ran.
fn conversation(env: &Env, wanted: &str) -> Result<JournalSelection, Failure> {
    if wanted.is_empty() {
        return Err(Failure::usage("--session needs the beginning of an id, or `last`"));
    }
    let directory = env.journal_dir();
    let journals = journals::all(&directory)?;
    let beginning: Vec<&String> = journals.iter().filter(|id| id.starts_with(wanted)).collect();
    if let Some(id) = only(wanted, &beginning)? {
        return Ok(JournalSelection::Conversation(id.clone()));
    }
    let subagents = subagents(&directory, &journals, wanted);
    let ids: Vec<&String> = subagents.keys().collect();
    if let Some(id) = only(wanted, &ids)? {
        return Ok(JournalSelection::Subagent { id: id.clone(), parent: subagents[id].clone() });
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
            Err(Failure::new(message).help("type more characters of the id"))
        }
    }
}

/// Subagents whose ids begin with `wanted`, with their parents.
fn subagents(directory: &Path, journals: &[String], wanted: &str) -> BTreeMap<String, String> {
    let lines =
        journals.iter().flat_map(|id| journal::read(directory, id).unwrap_or_default().lines);
    lines
        .filter(|line| line.record.conversation_id.starts_with(wanted))
        .filter_map(|line| Some((line.record.conversation_id, line.record.parent_conversation_id?)))
        .collect()
}

fn stored(env: &Env, wanted: &str) -> Result<JournalSelection, Failure> {
    let unknown = || {
        Failure::new(format!("no conversation begins with {wanted:?}")).help(
            "`tenter log --all` shows all that is recorded, `tenter conversation list` what is stored",
        )
    };
    let store = open_store(env)?.ok_or_else(unknown)?;
    match store.find(wanted) {
        Ok(id) => Ok(JournalSelection::Conversation(id)),
        Err(StoreError::NotFound { .. }) => Err(unknown()),
        Err(error) => Err(error.into()),
    }
}
