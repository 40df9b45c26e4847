//! The reports of the engine. Observers see every hook run and every decision, and can change none.

mod permission;

use std::ops::{Deref, DerefMut, Not};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::confinement::ConfinedFact;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{EventName, HistoryAction, Reply, Scope, ToolCall};

pub use permission::{PermissionAnswer, PermissionRecord, PermissionSource};

use crate::layer::Layer;
use crate::matcher::RuleFit;
use crate::run_end::RunEnd;
use crate::trust::Fingerprint;

/// Is notified of what the engine does, on the thread that dispatches: the tools of one model response run in parallel.
pub trait Observer: Send + Sync {
    /// Receives the start of a run. [`hook_stopped`](Self::hook_stopped) always follows with the same event, hook and call.
    fn hook_started(&self, _run: &HookRun) {}

    /// Receives the end of a hook that was started, before its reply is applied.
    fn hook_stopped(&self, _run: &HookRun) {}

    /// Receives the run of a hook, successful or not.
    fn hook_ran(&self, run: &HookRun);

    /// Receives a hook that cannot run. Called once for each, in addition to the diagnostic of loading.
    fn hook_missing(&self, _run: &HookRun) {}

    /// Receives the decision of an event's hooks.
    fn decided(&self, _decision: &Decision) {}

    /// Receives the answer to a hook's `ask` (R71).
    fn ask_answered(&self, _answer: &AskAnswer) {}

    /// Receives the decision whether a tool call that needs the user's permission may run.
    fn permission_decided(&self, _decided: &CallPermission) {}

    /// Receives a notice for the user.
    fn noticed(&self, _notice: &Notice) {}
}

/// Something that observers see: the event that it belongs to, and its record. The fields of the record can be used as if they
/// were its own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Observation<R> {
    /// The conversation and the agent.
    pub scope: Arc<Scope>,
    /// The event.
    pub event: EventName,
    /// The tool call of the event: for a run with its input as the hook read it, for a decision as the hooks left it.
    pub tool_call: Option<ToolCall>,
    /// When the run started, the decision was made, or the answer was given.
    pub time: Timestamp,
    /// The record, as journals hold it.
    pub record: R,
}

/// One run of one hook.
pub type HookRun = Observation<RunRecord>;
/// The common decision of the hooks of one event.
pub type Decision = Observation<DecisionRecord>;
/// The answer to a hook's `ask` (R71).
pub type AskAnswer = Observation<AnswerRecord>;
/// The permission of a tool call that needs one, after hooks let it pass.
pub type CallPermission = Observation<PermissionRecord>;
/// Something that the user must know: that a denied call ran, or what a hook said (S7).
pub type Notice = Observation<NoticeRecord>;

// For Tenter's own commands and tests.
#[doc(hidden)]
impl<R> Observation<R> {
    /// Creates an observation at an event without a tool call.
    pub fn new(scope: Arc<Scope>, event: EventName, time: Timestamp, record: R) -> Self {
        Self { scope, event, tool_call: None, time, record }
    }

    /// Returns the id of the tool call.
    pub fn call_id(&self) -> Option<&str> {
        self.tool_call.as_ref().map(|call| call.id.as_str())
    }
}

impl<R> Deref for Observation<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.record
    }
}

impl<R> DerefMut for Observation<R> {
    fn deref_mut(&mut self) -> &mut R {
        &mut self.record
    }
}

/// The record of a hook run, as observers receive it and as journals, `tenter log` and `tenter inspect` read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// The hook's full name.
    pub hook: String,
    /// The hook's layer.
    pub layer: Layer,
    /// The hash of the hook's content; empty for the built-in hook.
    #[serde(rename = "hash")]
    pub fingerprint: Fingerprint,
    /// The event in the hook's own spelling.
    pub spelling: String,
    /// The duration, in milliseconds in journals.
    #[serde(rename = "duration_ms", with = "milliseconds")]
    pub duration: Duration,
    /// The end of the run.
    #[serde(rename = "exit")]
    pub end: RunEnd,
    /// The form in which its process was reached; `None` if there was none. Journals hold it for runtime hooks only.
    #[serde(default, skip_serializing_if = "is_not_runtime")]
    pub transport: Option<Transport>,
    /// The most important part of its decision.
    pub decision: DecisionKind,
    /// The most important part of what it would have decided, if it is in monitor mode. It decided nothing then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would: Option<DecisionKind>,
    /// The other parts, the most important first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<DecisionKind>,
    /// The hook's reason, or why the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The rule of its `match` that the call fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleFit>,
    /// The change that its rewrite made.
    #[serde(default, rename = "rewrite", skip_serializing_if = "Option::is_none")]
    pub change: Option<RewriteChange>,
    /// The stdout of a failed run, without the middle if it is long; empty if the run succeeded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The last lines that it wrote to stderr.
    #[serde(default, rename = "stderr", skip_serializing_if = "String::is_empty")]
    pub stderr_tail: String,
    /// Parts of its reply that are invalid or have no effect (R61, R62), and messages to the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// True if its process ended too often, so that it is not started again in this session; a warning says so.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub given_up: bool,
    /// Messages that it logged, and remarks about the use of its reply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// True if it ran in the background. It decided nothing then, and its notes say which part of its reply is kept (R22).
    #[serde(default, rename = "async", skip_serializing_if = "Not::not")]
    pub asynchronous: bool,
}

// For Tenter's own commands and tests.
#[doc(hidden)]
impl RunRecord {
    /// Creates the record of a run of `hook` at `event`, by its canonical name, that started no process, took no time and
    /// decided nothing.
    pub fn new(hook: impl Into<String>, layer: Layer, event: EventName) -> Self {
        Self {
            hook: hook.into(),
            layer,
            fingerprint: Fingerprint(String::new()),
            spelling: event.as_str().to_owned(),
            duration: Duration::ZERO,
            end: RunEnd::NoProcess,
            transport: None,
            decision: DecisionKind::None,
            would: None,
            also: Vec::new(),
            reason: None,
            rule: None,
            change: None,
            stdout: String::new(),
            stderr_tail: String::new(),
            warnings: Vec::new(),
            given_up: false,
            notes: Vec::new(),
            asynchronous: false,
        }
    }
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_not_runtime(transport: &Option<Transport>) -> bool {
    *transport != Some(Transport::Runtime)
}

/// Durations in whole milliseconds.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(value.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

/// The form in which the process of a hook is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A process for each event.
    OneShot,
    /// A process that is called for many events.
    Runtime,
}

impl Transport {
    /// Returns the word for it in listings and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OneShot => "one-shot",
            Self::Runtime => "runtime",
        }
    }
}

/// Something before and after a rewrite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewriteChange {
    /// As the hook read it.
    pub before: Value,
    /// As the hook left it.
    pub after: Value,
}

/// The record of a decision, as observers receive it and as journals, `tenter log` and `tenter inspect` read it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord {
    /// The most important part of the decision.
    pub decision: DecisionKind,
    /// The other parts, the most important first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<DecisionKind>,
    /// The number of hooks that were run.
    pub hooks_run: usize,
    /// The hook that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason of the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if the event was denied because a hook failed (R42).
    #[serde(default, skip_serializing_if = "Not::not")]
    pub by_failure: bool,
    /// Hooks whose history action does not count because an earlier one does (R31); never the built-in hook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overruled: Vec<String>,
    /// After a tool call that ran confined: the promises that were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<ConfinedFact>,
}

/// The record of the answer to a hook's `ask`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// The hook that asked.
    pub hook: String,
    /// The reason why it asked.
    pub reason: String,
    /// The answer in the words that users are shown: `yes`, `always`, `no` or `nobody to ask`.
    pub answer: String,
    /// True if the call may run.
    pub allowed: bool,
    /// True if the answer was given earlier in the session.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub remembered: bool,
}

/// The record of something that the user must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeRecord {
    /// The hook that says it; none if the engine does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
    /// The text.
    pub text: String,
}

/// A part of a decision. A reply with several parts is named after the most important one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// Nothing.
    #[default]
    None,
    /// Let it happen.
    Allow,
    /// Add context for the model.
    Context,
    /// Continue instead of stopping.
    Continue,
    /// Change the message, the input or the output.
    Rewrite,
    /// Run a recipe on the history.
    Callback,
    /// Replace the history.
    Mutate,
    /// Let it happen with fewer rights.
    Confine,
    /// Ask the user.
    Ask,
    /// Do not let it happen.
    Deny,
    /// The hook failed.
    Failed,
}

impl DecisionKind {
    /// Every decision, the least important first.
    pub const ALL: [Self; 11] = [
        Self::None,
        Self::Allow,
        Self::Context,
        Self::Continue,
        Self::Rewrite,
        Self::Callback,
        Self::Mutate,
        Self::Confine,
        Self::Ask,
        Self::Deny,
        Self::Failed,
    ];

    /// Returns the word for it in listings and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow => "allow",
            Self::Context => "context",
            Self::Continue => "continue",
            Self::Rewrite => "rewrite",
            Self::Callback => "callback",
            Self::Mutate => "mutate",
            Self::Confine => "confine",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Failed => "failed",
        }
    }

    /// Returns the most important part of what a reply decides.
    pub fn most_important(reply: &Reply) -> Self {
        Self::all_of(reply).first().copied().unwrap_or(Self::None)
    }

    /// Returns every part of what a reply decides, the most important first.
    pub(crate) fn all_of(reply: &Reply) -> Vec<Self> {
        let verdict = reply.verdict.as_ref().map(|verdict| match verdict.kind {
            VerdictKind::Allow => Self::Allow,
            VerdictKind::Confine => Self::Confine,
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
        let mut parts: Vec<Self> =
            [verdict, history, rewrite, follow_up, context].into_iter().flatten().collect();
        parts.sort_by_key(|part| std::cmp::Reverse(*part));
        parts
    }
}
