//! Reads the outcome of a dispatch as the decision of its event.

use tenter_protocol::{Body, EventName, ToolResult};

use super::decision::{
    ApprovedCall, Denial, DenialCause, Feedback, MessageDecision, StartDecision, StopReview,
    ToolDecision, ToolQuestion, TurnReview,
};
use crate::dispatch::Outcome;
use crate::observe::PermissionAnswer;

impl Outcome {
    pub(super) fn into_start(self, is_cancelled: bool) -> StartDecision {
        match self.denial_or_cancelled(is_cancelled) {
            Some(denial) => StartDecision::Deny(Denial { contexts: self.contexts, ..denial }),
            None => StartDecision::Start { contexts: self.contexts },
        }
    }

    pub(super) fn into_message(self, is_cancelled: bool) -> MessageDecision {
        let denial = self.denial_or_cancelled(is_cancelled);
        let contexts = self.contexts;
        match (denial, self.body) {
            (Some(denial), _) => MessageDecision::Deny(Denial { contexts, ..denial }),
            (None, Body::BeforeAgent { message }) => MessageDecision::Send { message, contexts },
            (None, _) => MessageDecision::Deny(Denial::defect(EventName::BeforeAgent)),
        }
    }

    pub(super) fn into_tool(mut self, is_cancelled: bool) -> ToolDecision {
        let event = EventName::BeforeTool;
        // A deny stands, although later hooks were cancelled.
        let denial = self.denial().or_else(|| is_cancelled.then(|| Denial::cancelled(event)));
        if let Some(denial) = denial {
            return ToolDecision::Deny(Denial { contexts: self.contexts, ..denial });
        }
        let question = self.asked().map(|(hook, reason)| (hook.to_owned(), reason.to_owned()));
        let Body::BeforeTool(call) = self.body else {
            return ToolDecision::Deny(Denial::defect(event));
        };
        let rewritten_by = self.rewritten_by.pop();
        let mut confinements: Vec<_> =
            self.confinements.into_iter().map(|confinement| confinement.value).collect();
        confinements.dedup();
        let (allowed_by, contexts) = (self.allowed_by, self.contexts);
        let approved = ApprovedCall { call, rewritten_by, allowed_by, confinements, contexts };
        match question {
            Some((hook, reason)) => {
                ToolDecision::Ask(ToolQuestion { hook, reason, if_allowed: approved })
            }
            None => ToolDecision::Run(approved),
        }
    }

    /// Returns the tool's result, and what hooks say about it.
    pub(super) fn into_tool_result(self) -> (Option<ToolResult>, Feedback) {
        let feedback = Feedback { denial: self.denial(), contexts: self.contexts };
        let result = match self.body {
            Body::AfterTool { result, .. } => Some(result),
            _ => None,
        };
        (result, feedback)
    }

    pub(super) fn into_turn(self) -> TurnReview {
        let feedback = Feedback { denial: self.denial(), contexts: self.contexts };
        TurnReview { history: self.history, feedback }
    }

    pub(super) fn into_stop(self) -> StopReview {
        let denial = self.denial();
        let mut follow_ups = self.follow_ups;
        follow_ups.extend(denial.clone().and_then(Denial::into_message));
        StopReview { follow_ups, denial, history: self.history, contexts: self.contexts }
    }

    pub(super) fn into_feedback(self) -> Feedback {
        Feedback { denial: self.denial(), contexts: self.contexts }
    }

    /// Returns the denial, also of cancelled hooks, which might have denied.
    fn denial_or_cancelled(&self, is_cancelled: bool) -> Option<Denial> {
        if is_cancelled { Some(Denial::cancelled(self.body.name())) } else { self.denial() }
    }

    /// Returns the denial without the contexts.
    fn denial(&self) -> Option<Denial> {
        let (hook, reason) = self.denied()?;
        let cause =
            if self.denied_by_failure { DenialCause::HookFailure } else { DenialCause::Hook };
        Some(Denial::new(self.body.name(), cause, reason).by(hook))
    }
}

impl Denial {
    fn new(event: EventName, cause: DenialCause, reason: impl Into<String>) -> Self {
        Self { event, hook: None, reason: reason.into(), cause, contexts: Vec::new() }
    }

    fn by(self, hook: impl Into<String>) -> Self {
        Self { hook: Some(hook.into()), ..self }
    }

    fn cancelled(event: EventName) -> Self {
        Self::new(event, DenialCause::Cancelled, "interrupted")
    }

    /// Returns a dispatch never changes its event; what hooks did not see does not happen.
    fn defect(event: EventName) -> Self {
        Self::new(
            event,
            DenialCause::Defect,
            "the hooks could not be run because of a bug in Tenter",
        )
    }
}

impl ToolQuestion {
    /// Returns the denial that follows from an answer that does not allow the call.
    pub(super) fn refused(self, answer: PermissionAnswer) -> Denial {
        let Self { hook, reason, if_allowed } = self;
        let reason = match answer {
            PermissionAnswer::Unattended { .. } => format!(
                "{reason} (the hook {hook} asked for the user's permission, but there is no user to ask)"
            ),
            _ => format!("{reason} (the hook {hook} asked, and the answer was no)"),
        };
        let denial = Denial::new(EventName::BeforeTool, DenialCause::UserAnswer, reason).by(hook);
        Denial { contexts: if_allowed.contexts, ..denial }
    }
}
