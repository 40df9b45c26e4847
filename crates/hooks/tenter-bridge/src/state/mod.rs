//! The state of a session between the processes that a host starts (B28, R83): two files per host and root session.
//!
//! [`GuardRecord`] has the facts that guards need. It is always small. [`WorkRecord`] has the parts that may grow, such as tasks of
//! subagents and texts of hooks: it is cut to a limit, and has a file of its own.
//!
//! A state that cannot be written is never a reason to let a denied call pass, nor to deny another one. If it cannot be read, the actions
//! that fail-closed hooks guard are denied.

mod denied;
mod limits;
mod store;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tenter_protocol::manifest::MatcherText;

use crate::digest::short_id;
use crate::transcript::HistoryStart;

pub(crate) use denied::DeniedCalls;
pub(crate) use limits::MAX_AGENTS;
pub(crate) use store::{SessionState, StateDir};

/// The facts about a session that guards need. The default is a new session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts in a file")]
pub(crate) struct GuardRecord {
    /// The root of the project, found at the first event (B44).
    pub(crate) project: Option<PathBuf>,
    /// True once the hooks of `session_start` ran.
    pub(crate) opened: bool,
    /// True if another event than the session's start opened it. The host's late start is ignored then (B46).
    pub(crate) opened_early: bool,
    /// The time at which it was opened, in seconds since 1970.
    pub(crate) opened_at: i64,
    /// The reason why hooks blocked the session.
    pub(crate) blocked: Option<String>,
    /// The hooks of the project that guard the session.
    pub(crate) guards: Vec<Guard>,
    /// True if more hooks guard the session than the record contains.
    pub(crate) has_more_guards: bool,
    /// Number of times in a row that hooks made the agent continue since the last user message, by agent: `""` is the main one.
    pub(crate) continuations: BTreeMap<String, u32>,
    /// Notices that the user has read, by a word for each kind.
    noticed: BTreeSet<String>,
    /// Calls that were denied and that must not succeed (B30).
    pub(crate) denied_calls: DeniedCalls,
    /// When shell commands started that have not ended, in milliseconds since 1970, by the call's id (F16).
    pub(crate) started_calls: BTreeMap<String, i64>,
    /// The notes of the launchers of confined calls that have not ended, by the call's id (F13).
    pub(crate) confined_calls: BTreeMap<String, PathBuf>,
    /// Rewritten calls that the model was asked to make, by digest: the hooks that rewrote them (B18).
    pub(crate) demanded: BTreeMap<String, BTreeSet<String>>,
    /// Number of such calls since the last user message, by hook.
    pub(crate) demands: BTreeMap<String, u32>,
    /// The host's id of the last prompt.
    pub(crate) prompt: Option<String>,
    /// The digest of the id and the text of the last prompt that hooks let pass.
    pub(crate) passed: Option<String>,
    /// The digest of the text with which hooks last made the agent continue, until the host shows it as a prompt.
    pub(crate) injected: Option<String>,
    /// True if a denied call ran.
    pub(crate) breached: bool,
    /// True if the conversation is recorded for hooks that are written for Claude Code (B52).
    pub(crate) recorded: bool,
    /// The session of the main agent, to which the state belongs, if this is a subagent's session (B48).
    pub(crate) root: Option<String>,
    /// The parts that may grow, in a file of their own.
    #[serde(skip)]
    pub(crate) work: WorkRecord,
}

/// The parts of a session's state that grow. No guard depends on them, so they are cut to a limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WorkRecord {
    /// The contexts of the session's start, for the model to read again after a compaction.
    pub(crate) start_contexts: Vec<String>,
    /// Contexts that wait for an event that can carry them, in order.
    pub(crate) waiting: Vec<WaitingContext>,
    /// Notices that wait for an event at which the user sees them.
    pub(crate) notices: Vec<String>,
    /// Messages that hooks rewrote and that the host has not sent, by agent: `""` is the main one.
    pub(crate) messages: BTreeMap<String, RewrittenMessage>,
    /// Subagents whose call was approved, and that have not started.
    pub(crate) expected: Vec<ExpectedSubagent>,
    /// Subagents that started, by the host's id, in the order in which they did.
    pub(crate) subagents: Vec<(String, KnownSubagent)>,
    /// The position at which the present history of each agent begins in its transcript: `""` is the main one.
    pub(crate) transcripts: BTreeMap<String, HistoryStart>,
}

/// A message of the user that hooks rewrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RewrittenMessage {
    /// The digest of the user's text.
    pub(crate) original: String,
    /// The text for the model.
    pub(crate) text: String,
}

/// A trusted hook of the project, with the calls to which it applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Guard {
    /// The full name.
    pub(crate) name: String,
    /// The events that it subscribes to.
    pub(crate) events: Vec<String>,
    /// Its matcher.
    pub(crate) matcher: MatcherText,
}

/// A context that no event could carry yet (B20).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaitingContext {
    /// The subagent that is to read it; `None` for the main agent.
    pub(crate) agent: Option<String>,
    /// The text.
    pub(crate) text: String,
}

/// A subagent that an approved tool call starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExpectedSubagent {
    /// The subagent.
    pub(crate) subagent: KnownSubagent,
    /// The contexts that it reads first.
    pub(crate) contexts: Vec<String>,
}

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownSubagent {
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: String,
    /// Its task.
    pub(crate) task: String,
    /// The subagent that started it; `None` for the main agent.
    pub(crate) parent: Option<String>,
}

impl GuardRecord {
    /// Returns whether the user has read a notice of this kind.
    pub(crate) fn has_noticed(&self, kind: &str) -> bool {
        self.noticed.contains(&*short_id(kind))
    }

    /// Marks a kind of notice as read. Returns whether it is new to the user.
    pub(crate) fn notice_once(&mut self, kind: &str) -> bool {
        self.noticed.insert(short_id(kind).into_owned())
    }

    /// Resets the counts for one message of the user.
    pub(crate) fn start_message(&mut self) {
        self.continuations.clear();
        self.demands.clear();
        self.demanded.clear();
        self.injected = None;
    }
}

impl WorkRecord {
    /// Returns the subagent with the host's id.
    pub(crate) fn subagent(&self, id: &str) -> Option<&KnownSubagent> {
        let mut subagents = self.subagents.iter().rev();
        subagents.find(|(other, _)| other == id).map(|(_, subagent)| subagent)
    }

    /// Takes the contexts that wait for this agent.
    pub(crate) fn take_waiting(&mut self, agent: Option<&str>) -> Vec<String> {
        let is_for = |context: &WaitingContext| context.agent.as_deref() == agent;
        self.waiting.extract_if(.., |context| is_for(context)).map(|context| context.text).collect()
    }

    /// Takes the subagent of this type that is expected next.
    pub(crate) fn take_expected(&mut self, kind: Option<&str>) -> Option<ExpectedSubagent> {
        let is_kind = |expected: &ExpectedSubagent| {
            let expected_kind = expected.subagent.kind.as_str();
            expected_kind.is_empty() || kind.is_none_or(|kind| kind == expected_kind)
        };
        let index = self.expected.iter().position(is_kind)?;
        Some(self.expected.remove(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_contexts_are_taken_once_by_their_agent_in_order() {
        let context = |agent: Option<&str>, text: &str| WaitingContext {
            agent: agent.map(str::to_owned),
            text: text.to_owned(),
        };
        let waiting = vec![context(None, "1"), context(Some("a"), "2"), context(None, "3")];
        let mut work = WorkRecord { waiting, ..WorkRecord::default() };
        assert_eq!(work.take_waiting(None), ["1", "3"]);
        assert!(work.take_waiting(None).is_empty());
        assert_eq!(work.take_waiting(Some("a")), ["2"]);
    }
}
