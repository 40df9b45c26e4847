//! What the engine tells of its work. Observers see every hook run and every decision, and can change none.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{EventName, HistoryAction, Reply, Scope};

use crate::hook::{Fingerprint, Layer};

/// Sees what the engine does. Called from whichever thread dispatches: the tools of one model response run in parallel.
pub trait Observer: Send + Sync {
    /// A hook was run, whatever came of it.
    fn hook_ran(&self, run: &HookRun);

    /// The hooks of an event have answered.
    fn decided(&self, decision: &Decision);
}

/// One run of one hook.
#[derive(Debug, Clone)]
pub struct HookRun {
    /// Where and for whom.
    pub scope: Scope,
    /// At which event.
    pub event: EventName,
    /// The event in the hook's words.
    pub spelling: &'static str,
    /// The hook's full name.
    pub hook: String,
    /// Where the hook came from.
    pub layer: Layer,
    /// What the hook is made of; empty for what is built in.
    pub fingerprint: Fingerprint,
    /// About which tool call.
    pub tool_call_id: Option<String>,
    /// When it started.
    pub started: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// How its process ended, in words: `exit 0`, `signal 9`, `timed out` …; [`NO_PROCESS`](crate::builtin::NO_PROCESS)
    /// where it has none.
    pub exit: String,
    /// What it decided.
    pub decision: DecisionKind,
    /// Why; of a failed run, what went wrong.
    pub reason: Option<String>,
    /// What it changed.
    pub change: Option<Change>,
    /// The last lines that it wrote to stderr.
    pub stderr_tail: String,
    /// What of its answer was not understood (R27).
    pub warnings: Vec<String>,
    /// What it wanted recorded.
    pub notes: Vec<String>,
    /// Whether nobody waited for it: it decided nothing, and its notes say what of its answer is kept (R22).
    pub asynchronous: bool,
}

/// Something before and after a rewrite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// As the hook got it.
    pub before: Value,
    /// As the hook left it.
    pub after: Value,
}

/// What the hooks of one event amount to.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Where and for whom.
    pub scope: Scope,
    /// At which event.
    pub event: EventName,
    /// About which tool call.
    pub tool_call_id: Option<String>,
    /// When it was made.
    pub time: Timestamp,
    /// How many hooks were run.
    pub hooks_run: usize,
    /// The decision.
    pub kind: DecisionKind,
    /// The hook that made it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Whether a deny is there because a hook failed that is set to fail closed (R42).
    pub by_failure: bool,
    /// Hooks whose history action came too late (R31); never the built-in one, which gives way silently.
    pub overruled: Vec<String>,
}

/// What a hook, or all hooks of an event, decided. Where an answer does several things, the weightiest names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// Nothing.
    None,
    /// It may happen.
    Allow,
    /// More for the model to read.
    Context,
    /// Go on instead of stopping.
    Continue,
    /// Something was changed.
    Rewrite,
    /// A recipe shall run on the history.
    Callback,
    /// The history shall be replaced.
    Mutate,
    /// The person shall decide.
    Ask,
    /// It must not happen.
    Deny,
    /// The hook failed.
    Failed,
}

impl DecisionKind {
    /// The word for it in listings and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow => "allow",
            Self::Context => "context",
            Self::Continue => "continue",
            Self::Rewrite => "rewrite",
            Self::Callback => "callback",
            Self::Mutate => "mutate",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Failed => "failed",
        }
    }

    /// What a reply decides.
    pub fn of(reply: &Reply) -> Self {
        let verdict = reply.verdict.as_ref().map(|verdict| match verdict.kind {
            VerdictKind::Allow => Self::Allow,
            VerdictKind::Ask => Self::Ask,
            VerdictKind::Deny => Self::Deny,
        });
        let history = reply.history.as_ref().map(|action| match action {
            HistoryAction::Mutate(_) => Self::Mutate,
            HistoryAction::Callback { .. } => Self::Callback,
        });
        let rewrite = reply.rewrite.as_ref().map(|_| Self::Rewrite);
        let follow_up = (!reply.follow_ups.is_empty()).then_some(Self::Continue);
        let context = reply.context.as_ref().map(|_| Self::Context);
        [verdict, history, rewrite, follow_up, context]
            .into_iter()
            .flatten()
            .max()
            .unwrap_or(Self::None)
    }
}
