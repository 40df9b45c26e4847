//! The decisions of hooks, one type for each kind of event.
//!
//! Every type here is complete for its event: the caller has no event to take apart and no case to handle that cannot happen.

use tenter_protocol::confinement::Confinement;
use tenter_protocol::{EventName, HistoryAction, ToolCall, ToolResult};

use crate::dispatch::Attributed;

/// The decision about the start of a session, a subagent or a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum StartDecision {
    /// It may start.
    Start {
        /// Text that hooks add for the model, in order.
        contexts: Vec<Attributed<String>>,
    },
    /// It must not start.
    Deny(Denial),
}

/// The decision about a user message before it is added to the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum MessageDecision {
    /// The message may be added.
    Send {
        /// The message as the hooks left it.
        message: String,
        /// Text that hooks add for the model, in order.
        contexts: Vec<Attributed<String>>,
    },
    /// The message must leave no trace in the conversation (R29).
    Deny(Denial),
}

/// The decision about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ToolDecision {
    /// The call may run as it is here: hooks may have rewritten its input.
    Run(ApprovedCall),
    /// A hook wants the user to decide. [`HookSession::answer`](super::HookSession::answer) takes the answer.
    Ask(ToolQuestion),
    /// The call must not run. The model reads the reason as the call's result.
    Deny(Denial),
}

/// A tool call that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovedCall {
    /// The call to run, with the input as the hooks left it.
    pub call: ToolCall,
    /// The last hook that rewrote the input, if one did.
    pub rewritten_by: Option<String>,
    /// The hook that explicitly allowed this call, with this input. That no hook objects is no permission: it may be `None`.
    pub allowed_by: Option<String>,
    /// The confinements under which it must run: all apply. An agent that cannot keep them must not run it (F2).
    pub confinements: Vec<Confinement>,
    /// Text that hooks add for the model, in order.
    pub contexts: Vec<Attributed<String>>,
}

/// A hook's question to the user about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolQuestion {
    /// The hook that asks.
    pub hook: String,
    /// The reason why it asks.
    pub reason: String,
    /// The call that runs if the user allows it.
    pub if_allowed: ApprovedCall,
}

/// The reason why something must not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// The event at which it was denied.
    pub event: EventName,
    /// The hook that denied it; `None` if no hook did.
    pub hook: Option<String>,
    /// The reason, for the model and the user.
    pub reason: String,
    /// The cause of the denial.
    pub cause: DenialCause,
    /// Text that hooks add for the model, in order (R65).
    pub contexts: Vec<Attributed<String>>,
}

impl Denial {
    /// Returns whether it was denied only because the session was cancelled before every hook had replied.
    pub fn is_cancelled(&self) -> bool {
        self.cause == DenialCause::Cancelled
    }

    /// Returns the reason as a message from the hook; `None` if no hook denied.
    pub(super) fn into_message(self) -> Option<Attributed<String>> {
        Some(Attributed { hook: self.hook?, value: self.reason })
    }
}

/// The cause of a [`Denial`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenialCause {
    /// A hook denied.
    Hook,
    /// A hook failed that is set to fail closed (R42), or cannot run as it was trusted (R75).
    HookFailure,
    /// A hook asked, and the answer was no (R71).
    UserAnswer,
    /// The session was cancelled before every hook had replied.
    Cancelled,
    /// The engine contradicts itself. What hooks did not see does not happen.
    Defect,
}

/// The feedback of hooks to something that has happened already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Feedback {
    /// A hook's objection. It undoes nothing: the model reads the reason (R29).
    pub denial: Option<Denial>,
    /// Text that hooks add for the model, in order.
    pub contexts: Vec<Attributed<String>>,
}

impl Feedback {
    /// Returns everything that the model is to read: the objection first, then the contexts.
    pub fn into_messages(self) -> Vec<Attributed<String>> {
        let denial = self.denial.and_then(Denial::into_message);
        denial.into_iter().chain(self.contexts).collect()
    }
}

/// A tool's result after the hooks have seen it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolReview {
    /// The result as the hooks left it. Nothing else may reach the model or the conversation (R25).
    pub result: ToolResult,
    /// The feedback to the result.
    pub feedback: Feedback,
}

/// The replies of hooks to a model response.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct TurnReview {
    /// Changes to the history, in order: apply the first that can be started (R31, R66).
    pub history: Vec<Attributed<HistoryAction>>,
    /// The feedback to the turn.
    pub feedback: Feedback,
}

/// The replies of hooks where the agent would stop.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct StopReview {
    /// Messages on which the agent continues, in order (R31). The agent stops if there are none. The reason of a deny is the last
    /// of them (R29).
    pub follow_ups: Vec<Attributed<String>>,
    /// The denial whose reason is among the follow-ups.
    pub denial: Option<Denial>,
    /// Changes to the history, in order: apply the first that can be started (R31, R66).
    pub history: Vec<Attributed<HistoryAction>>,
    /// Text that hooks add for the model, in order.
    pub contexts: Vec<Attributed<String>>,
}
