//! How the demo ended: what came of it, what holds, and where everything lies.

use std::fs;
use std::path::PathBuf;

use tenter_agent::session::{Finish, Status};
use tenter_agent::store::StoredConversation;

use super::proof::{Proof, proofs};
use super::scratch::Scratch;

/// How the demo ended.
pub(super) struct Ending {
    /// How: done only when every proof holds.
    pub(super) status: Status,
    /// What was claimed, and whether it is so.
    pub(super) proofs: Vec<Proof>,
    /// The lines of the audit log.
    pub(super) audit: Vec<String>,
    /// Whether the folder stays.
    pub(super) kept: bool,
    /// Where the journal of the conversation is.
    pub(super) journal: PathBuf,
    /// Where conversations are stored.
    pub(super) conversations: PathBuf,
}

impl Ending {
    /// Looks at what is there now.
    pub(super) fn new(
        scratch: &Scratch,
        finish: &Finish,
        conversation: Option<&StoredConversation>,
        kept: bool,
    ) -> Self {
        let log = fs::read_to_string(scratch.audit_log()).unwrap_or_default();
        let audit: Vec<String> = log.lines().map(str::to_owned).collect();
        let proofs = proofs(scratch, conversation, audit.len());
        let status = match finish.status {
            Status::Done if proofs.iter().all(|proof| proof.holds) => Status::Done,
            Status::Interrupted => Status::Interrupted,
            _ => Status::Failed,
        };
        let id = conversation.map(|conversation| conversation.summary.id.as_str());
        let journal = scratch.env.journal_dir();
        Self {
            status,
            proofs,
            audit,
            kept,
            journal: id.map_or(journal.clone(), |id| journal.join(format!("{id}.jsonl"))),
            conversations: scratch.env.store_file(),
        }
    }

    /// A line of the audit log to show: that of a blocked call, which surprises most.
    pub(super) fn audit_sample(&self) -> Option<&str> {
        let blocked = self.audit.iter().find(|line| line.contains("\"blocked\""));
        blocked.or(self.audit.first()).map(String::as_str)
    }
}
