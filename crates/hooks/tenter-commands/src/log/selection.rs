//! The records that `tenter log` shows: of all projects, one project or one conversation.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use tenter_engine::journal::JournalLine;
use tenter_terminal::{Env, Failure};

use crate::OwnAgent;

/// The selected records.
pub(super) enum JournalSelection {
    /// Those of all projects.
    All,
    /// A project's.
    Project(OfProject),
    /// A conversation's, with its subagents'.
    Conversation(String),
    /// A subagent's, which are in its parent's journal.
    Subagent {
        /// The subagent's conversation.
        id: String,
        /// Its parent's.
        parent: String,
    },
}

/// A line, and the conversation whose journal it is in.
pub(super) struct SessionLine {
    pub(super) session: String,
    pub(super) line: JournalLine,
}

/// The records of one project. Records that name none, because an old version wrote them, are looked up in the store.
pub(super) struct OfProject {
    /// The project's root.
    pub(super) root: String,
    env: Env,
    agent: &'static dyn OwnAgent,
    /// The project's conversations in the store, once they were needed.
    conversations: OnceCell<BTreeSet<String>>,
}

impl OfProject {
    pub(super) fn new(env: &Env, root: &Path, agent: &'static dyn OwnAgent) -> Self {
        let (root, conversations) = (root.to_string_lossy().into_owned(), OnceCell::new());
        Self { root, env: env.clone(), agent, conversations }
    }

    fn has(&self, of: &SessionLine) -> Result<bool, Failure> {
        match &of.line.record.project {
            Some(project) => Ok(*project == self.root),
            None => Ok(self.stored()?.contains(&of.session)),
        }
    }

    fn stored(&self) -> Result<&BTreeSet<String>, Failure> {
        if self.conversations.get().is_none() {
            let root = Path::new(&self.root);
            let conversations = self.agent.conversations(&self.env, Some(root), usize::MAX)?;
            let _ = self
                .conversations
                .set(conversations.into_iter().map(|conversation| conversation.id).collect());
        }
        Ok(self.conversations.get_or_init(BTreeSet::new))
    }
}

impl JournalSelection {
    /// Returns whether a line is selected.
    pub(super) fn has(&self, line: &SessionLine) -> Result<bool, Failure> {
        match self {
            Self::All | Self::Conversation(_) => Ok(true),
            Self::Subagent { id, .. } => Ok(line.line.record.conversation_id == *id),
            Self::Project(project) => project.has(line),
        }
    }

    /// Keeps the selected lines.
    pub(super) fn retain(&self, lines: &mut Vec<SessionLine>) -> Result<(), Failure> {
        let matches = lines.iter().map(|line| self.has(line)).collect::<Result<Vec<bool>, _>>()?;
        let mut matches = matches.into_iter();
        lines.retain(|_| matches.next().unwrap_or(false));
        Ok(())
    }
}
