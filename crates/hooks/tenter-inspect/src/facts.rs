//! Facts on the pages that are not in the journal. The embedding program knows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tenter_backtest::{CallEnd, Report};
use tenter_engine::DecisionKind;

use crate::figures::KnownHook;

/// The hooks and agents that the embedding program knows. The methods are called for each page, on any thread; cache
/// results that take long.
pub trait Facts: Send + Sync {
    /// Returns the hooks of the project that can run.
    fn hooks(&self) -> Vec<KnownHook>;

    /// Returns the agents in which hooks can run.
    fn hosts(&self) -> Vec<HostStatus>;

    /// Returns the titles by id of sessions, each with its agent: the first words of their first message.
    fn titles(&self, _sessions: &[(&str, Option<&str>)]) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Returns the calls in the transcripts of agents, of this project or of all; `None` while they are read. Called every
    /// second.
    fn past_calls(&self, _is_all: bool) -> Option<Arc<PastCalls>> {
        None
    }

    /// Returns the lines that except a part of a call from a rule: a command, or the path of a tool. `None` if there is no such
    /// exception.
    fn exception(&self, _part: &str, _is_command: bool) -> Option<String> {
        None
    }

    /// Returns the files of a hook as they were trusted with this hash.
    fn source(&self, hook: &str, hash: &str) -> Option<HookSource>;
}

/// The calls in the transcripts of agents.
#[derive(Debug, Default)]
pub struct PastCalls {
    /// The calls that the installed hooks would have stopped.
    pub report: Report,
    /// The newest calls, the newest first.
    pub newest: Vec<TranscriptCall>,
    /// The reason why they cannot be read.
    pub error: Option<String>,
}

/// A call in the transcript of an agent, with what hooks decided about it. All texts are masked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TranscriptCall {
    /// The time, in RFC 3339; empty if it is not known.
    pub time: String,
    /// The agent.
    pub agent: &'static str,
    /// The agent's id of the session.
    pub session: String,
    /// The subagent that made the call; `None` for the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The id of the call.
    pub id: String,
    /// The tool, in the agent's names.
    pub tool: String,
    /// The command, the path, or the input.
    pub call: String,
    /// The end of the call.
    pub end: CallEnd,
    /// The decision of hooks; `None` if no hook ran.
    pub decision: Option<DecisionKind>,
    /// The hook that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The files of a hook.
#[derive(Debug, Clone, Default)]
pub struct HookSource {
    /// Their origin, as a sentence.
    pub origin: String,
    /// Each file: its path within the parent of the hook's directory, and its text; `None` if it is not text, or too long.
    pub files: Vec<(String, Option<String>)>,
}

/// An agent.
#[derive(Debug, Clone, Default)]
pub struct HostStatus {
    /// The id, such as `claude-code`.
    pub id: String,
    /// The name.
    pub name: String,
    /// True if there is a sign of it on this machine.
    pub is_installed: bool,
    /// The places where hooks are registered with it.
    pub registrations: Vec<HostRegistration>,
    /// When it last had an event, in RFC 3339.
    pub last_event: Option<String>,
    /// The last proof.
    pub proof: Option<HostProof>,
    /// The last denied call that it ran anyway: what happened, and when.
    pub breach: Option<(String, String)>,
}

/// A registration with an agent.
#[derive(Debug, Clone, Default)]
pub struct HostRegistration {
    /// For whom: the user or a project.
    pub scope: String,
    /// The settings file.
    pub file: String,
    /// The problem with it, if there is one.
    pub flaw: Option<String>,
}

/// The result of proving an agent.
#[derive(Debug, Clone, Default)]
pub struct HostProof {
    /// The version of the agent.
    pub version: String,
    /// When, in RFC 3339.
    pub at: String,
    /// Number of checks that hold.
    pub proved_checks: usize,
    /// The broken checks, each with the observation.
    pub broken_checks: Vec<(String, String)>,
}
