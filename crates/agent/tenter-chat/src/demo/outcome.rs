//! The result of the demo: its status, its checks, and the place of its files.

use std::fs;
use std::path::PathBuf;

use tenter_agent::session::{Finish, Status};
use tenter_agent::store::StoredConversation;

use super::checks::{DemoCheck, checks};
use super::scratch::Scratch;

/// The result of the demo.
pub(super) struct DemoOutcome {
    /// Done only if every check holds.
    pub(super) status: Status,
    /// The claims of the demo.
    pub(super) checks: Vec<DemoCheck>,
    /// The lines of the audit log.
    pub(super) audit: Vec<String>,
    /// True if the scratch directory is kept.
    pub(super) is_kept: bool,
    /// The journal of the conversation.
    pub(super) journal: PathBuf,
    /// The database of conversations.
    pub(super) conversations: PathBuf,
}

impl DemoOutcome {
    /// Checks the files and the stored conversation.
    pub(super) fn new(
        scratch: &Scratch,
        finish: &Finish,
        conversation: Option<&StoredConversation>,
        is_kept: bool,
    ) -> Self {
        let log = fs::read_to_string(scratch.audit_log()).unwrap_or_default();
        let audit: Vec<String> = log.lines().map(str::to_owned).collect();
        let checks = checks(scratch, conversation, audit.len());
        let status = match finish.status {
            Status::Done if checks.iter().all(|check| check.holds) => Status::Done,
            Status::Interrupted => Status::Interrupted,
            _ => Status::Failed,
        };
        let id = conversation.map(|conversation| conversation.summary.id.as_str());
        let journal = scratch.env.journal_dir();
        Self {
            status,
            checks,
            audit,
            is_kept,
            journal: id.map_or(journal.clone(), |id| journal.join(format!("{id}.jsonl"))),
            conversations: scratch.env.store_file(),
        }
    }

    /// Returns the line of the audit log to show: the line of a blocked call, if there is one.
    pub(super) fn audit_sample(&self) -> Option<&str> {
        let line = self.audit.iter().find(|line| line.contains("\"blocked\""));
        line.or(self.audit.first()).map(String::as_str)
    }
}
