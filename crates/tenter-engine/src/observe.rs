//! What the engine tells of its work. Observers see every hook run and every decision, and can change none.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{EventName, HistoryAction, Reply, Scope, ToolCall};

use crate::hook::{Fingerprint, Layer};
use crate::run_end::RunEnd;

/// Sees what the engine does. Called from whichever thread dispatches: the tools of one model response run in parallel.
pub trait Observer: Send + Sync {
    /// A hook was run, whatever came of it.
    fn hook_ran(&self, run: &HookRun);

    /// A hook was found that cannot run: recorded once, beside what loading reports of it.
    fn hook_missing(&self, _run: &HookRun) {}

    /// The hooks of an event have answered.
    fn decided(&self, decision: &Decision);

    /// A hook's `ask` was answered.
    fn ask_answered(&self, answer: &AskAnswer);
}

/// One run of one hook.
#[derive(Debug, Clone)]
pub struct HookRun {
    /// Where and for whom.
    pub scope: Arc<Scope>,
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
    /// The tool call that the event is about, with its input as the hook got it.
    pub tool_call: Option<ToolCall>,
    /// When it started.
    pub started: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// How it ended.
    pub end: RunEnd,
    /// What it decided; the weightiest part of its answer.
    pub decision: DecisionKind,
    /// What it decided besides, weightiest first.
    pub also: Vec<DecisionKind>,
    /// Why; of a failed run, what went wrong.
    pub reason: Option<String>,
    /// What it changed.
    pub change: Option<Change>,
    /// What a failed run wrote to stdout, its middle left out where it is long; empty for every other run.
    pub stdout: String,
    /// The last lines that it wrote to stderr.
    pub stderr_tail: String,
    /// What of its answer had no effect or was not understood (R61, R62), and what it has to say to the user.
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
    pub scope: Arc<Scope>,
    /// At which event.
    pub event: EventName,
    /// The tool call that the event is about, with its input as the hooks left it.
    pub tool_call: Option<ToolCall>,
    /// When it was made.
    pub time: Timestamp,
    /// How many hooks were run.
    pub hooks_run: usize,
    /// The decision; its weightiest part.
    pub kind: DecisionKind,
    /// What the hooks decided besides, weightiest first.
    pub also: Vec<DecisionKind>,
    /// The hook that made it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Whether a deny is there because a hook failed that is set to fail closed (R42).
    pub by_failure: bool,
    /// Hooks whose history action came too late (R31); never the built-in one, which gives way silently.
    pub overruled: Vec<String>,
}

/// How a hook's `ask` was answered (R71).
#[derive(Debug, Clone)]
pub struct AskAnswer {
    /// Where and for whom.
    pub scope: Scope,
    /// At which event.
    pub event: EventName,
    /// The call that the hook asked about.
    pub tool_call: ToolCall,
    /// When it was answered.
    pub time: Timestamp,
    /// The hook that asked.
    pub hook: String,
    /// Why it asked.
    pub reason: String,
    /// The answer.
    pub answer: PermissionAnswer,
    /// Whether the answer was given earlier in this session, as "always".
    pub remembered: bool,
}

/// An answer to `ask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// The call may run, this time.
    Yes,
    /// This call may run whenever this hook asks about it in this session.
    Always,
    /// The call must not run.
    No,
    /// There is no user to ask; the configuration answers.
    Unattended {
        /// What the configuration says.
        allowed: bool,
    },
}

impl PermissionAnswer {
    /// The answer in the words that users are shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Always => "always",
            Self::No => "no",
            Self::Unattended { .. } => "nobody to ask",
        }
    }

    /// Whether the call may run.
    pub fn allows(self) -> bool {
        match self {
            Self::Yes | Self::Always => true,
            Self::No => false,
            Self::Unattended { allowed } => allowed,
        }
    }
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
    /// Every decision, weakest first.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Allow,
        Self::Context,
        Self::Continue,
        Self::Rewrite,
        Self::Callback,
        Self::Mutate,
        Self::Ask,
        Self::Deny,
        Self::Failed,
    ];

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

    /// The weightiest part of what a reply decides.
    pub fn of(reply: &Reply) -> Self {
        Self::all_of(reply).first().copied().unwrap_or(Self::None)
    }

    /// Everything that a reply decides, weightiest first.
    pub fn all_of(reply: &Reply) -> Vec<Self> {
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
        let parts = [verdict, history, rewrite, follow_up, context].into_iter().flatten();
        let mut parts: Vec<Self> = parts.collect();
        parts.sort_by_key(|part| std::cmp::Reverse(*part));
        parts
    }
}
