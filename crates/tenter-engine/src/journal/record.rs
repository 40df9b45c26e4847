//! The form of one journal line. Fields, kinds and decisions may be added; a changed meaning needs a new [`VERSION`]. What
//! every version writes, so that every version can show it, are the fields of [`Record`] itself and `kind`.

use serde::{Deserialize, Serialize};
use tenter_protocol::Object;

use crate::clock::rfc3339;
use crate::observe::{Change, Decision, DecisionKind, HookRun};

/// The version that this code writes. A line of a newer version is shown as far as it can be read.
pub(super) const VERSION: u32 = 1;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the line's form.
    pub v: u32,
    /// RFC 3339 in UTC: when the run started, when the decision was made.
    pub time: String,
    /// The conversation that the event is of.
    pub conversation_id: String,
    /// The conversation that started it, where a subagent's event is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_conversation_id: Option<String>,
    /// The event's canonical name.
    pub event: String,
    /// The tool call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What is recorded.
    #[serde(flatten)]
    pub kind: RecordKind,
}

impl Record {
    /// Whether a newer version wrote it, so that it may mean something that this version does not know.
    pub fn is_newer(&self) -> bool {
        self.v > VERSION
    }
}

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RecordKind {
    /// A hook was run.
    Run(Box<RunRecord>),
    /// The hooks of an event have decided.
    Decision(DecisionRecord),
    /// Something that a newer version records, or records otherwise: its fields as they stand, `kind` among them.
    #[serde(untagged)]
    Other(Object),
}

/// A hook was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The hook's full name.
    pub hook: String,
    /// Where it came from.
    pub layer: String,
    /// SHA-256 of what ran.
    pub hash: String,
    /// The event in the hook's words.
    pub spelling: String,
    /// Milliseconds.
    pub duration_ms: u64,
    /// How its process ended.
    pub exit: String,
    /// What it decided.
    pub decision: DecisionKind,
    /// Why; of a failed run, what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it changed, secrets and long texts shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<Change>,
    /// The last lines of stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// What of its answer was not understood.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What it wanted recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether nobody waited for it.
    #[serde(default, rename = "async", skip_serializing_if = "std::ops::Not::not")]
    pub asynchronous: bool,
}

/// The hooks of an event have decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The decision.
    pub decision: DecisionKind,
    /// How many hooks were run.
    pub hooks_run: usize,
    /// The hook that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether a deny is there because a hook failed that is set to fail closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_failure: bool,
    /// Hooks whose history action came too late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overruled: Vec<String>,
}

impl From<&HookRun> for Record {
    fn from(run: &HookRun) -> Self {
        Self {
            v: VERSION,
            time: rfc3339(run.started),
            conversation_id: run.scope.conversation_id.clone(),
            parent_conversation_id: run.scope.parent_conversation_id.clone(),
            event: run.event.as_str().to_owned(),
            tool_call_id: run.tool_call_id.clone(),
            kind: RecordKind::Run(Box::new(RunRecord {
                hook: run.hook.clone(),
                layer: run.layer.as_str().to_owned(),
                hash: run.fingerprint.0.clone(),
                spelling: run.spelling.to_owned(),
                duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
                exit: run.exit.clone(),
                decision: run.decision,
                reason: run.reason.clone(),
                rewrite: run.change.clone(),
                stderr: run.stderr_tail.clone(),
                warnings: run.warnings.clone(),
                notes: run.notes.clone(),
                asynchronous: run.asynchronous,
            })),
        }
    }
}

impl From<&Decision> for Record {
    fn from(decision: &Decision) -> Self {
        Self {
            v: VERSION,
            time: rfc3339(decision.time),
            conversation_id: decision.scope.conversation_id.clone(),
            parent_conversation_id: decision.scope.parent_conversation_id.clone(),
            event: decision.event.as_str().to_owned(),
            tool_call_id: decision.tool_call_id.clone(),
            kind: RecordKind::Decision(DecisionRecord {
                decision: decision.kind,
                hooks_run: decision.hooks_run,
                by: decision.by.clone(),
                reason: decision.reason.clone(),
                by_failure: decision.by_failure,
                overruled: decision.overruled.clone(),
            }),
        }
    }
}
