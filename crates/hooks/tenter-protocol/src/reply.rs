//! The reply of one hook, independent of the protocol.

mod field_reader;
pub(crate) mod stdout;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::confinement::Confinement;
use crate::{Message, Object};

pub(crate) use field_reader::FieldReader;

/// A hook's stdout, parsed by either protocol.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedReply {
    /// The reply.
    pub reply: Reply,
    /// Fields without effect: unknown ones, and ones that the event does not have.
    pub warnings: Vec<String>,
    /// Fields that were meant to have an effect and cannot be used. A hook that fails open only loses these fields; for one
    /// that fails closed, the run has failed (R61).
    pub defects: Vec<String>,
    /// Text that is not a reply, for the journal.
    pub text: Option<String>,
}

/// The reason why stdout is not a reply. The run has failed, whatever the hook's fail mode (R61).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplyError {
    /// Not JSON, or not one object.
    #[error("its stdout is not one JSON object: {0}")]
    NotAnObject(String),
    /// A change that cannot be applied.
    #[error("{0}")]
    Change(String),
}

/// The reply of one hook. The default is silence: no verdict, no change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The decision about the operation.
    pub verdict: Option<Verdict>,
    /// The confinements of the call. All of them apply, whatever the verdict is (F2).
    pub confinements: Vec<Confinement>,
    /// The change to the operation.
    pub rewrite: Option<Rewrite>,
    /// Additional context for the model.
    pub context: Option<String>,
    /// Messages with which the agent continues.
    pub follow_ups: Vec<String>,
    /// The action on the history.
    pub history: Option<HistoryAction>,
    /// Text for the journal.
    pub log: Option<String>,
}

impl Reply {
    /// Makes verdict and confinements agree: a verdict of confine without a confinement is the profile `standard`, and a confinement
    /// without a stronger verdict is the verdict confine.
    pub(crate) fn complete_confinement(&mut self) {
        let kind = self.verdict.as_ref().map(|verdict| verdict.kind);
        if kind == Some(VerdictKind::Confine) && self.confinements.is_empty() {
            self.confinements.push(Confinement::default());
        }
        if !self.confinements.is_empty() && kind < Some(VerdictKind::Confine) {
            let reason = self.verdict.take().and_then(|verdict| verdict.reason);
            self.verdict = Some(Verdict::new(VerdictKind::Confine, reason));
        }
    }

    /// Combines this reply with a second one of the same hook: the stronger verdict, the later change, and all texts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let text = |one: Option<String>, other: Option<String>| {
            let texts: Vec<String> = one.into_iter().chain(other).collect();
            (!texts.is_empty()).then(|| texts.join("\n\n"))
        };
        let kind = |verdict: &Option<Verdict>| verdict.as_ref().map(|verdict| verdict.kind);
        let is_stronger = kind(&other.verdict) > kind(&self.verdict);
        Self {
            verdict: if is_stronger { other.verdict } else { self.verdict },
            confinements: [self.confinements, other.confinements].concat(),
            rewrite: other.rewrite.or(self.rewrite),
            context: text(self.context, other.context),
            follow_ups: [self.follow_ups, other.follow_ups].concat(),
            history: other.history.or(self.history),
            log: text(self.log, other.log),
        }
    }
}

/// The decision of a hook about an operation. A hook without a verdict is silent (R23).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Allow, confine, ask or deny.
    pub kind: VerdictKind,
    /// The reason.
    pub reason: Option<String>,
}

/// The verdicts, weakest first (R23, F1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VerdictKind {
    /// The operation may proceed.
    Allow,
    /// The operation may proceed with fewer rights.
    Confine,
    /// The user decides.
    Ask,
    /// The operation must not proceed.
    Deny,
}

impl Verdict {
    /// Creates a verdict. A blank reason counts as none.
    pub fn new(kind: VerdictKind, reason: Option<String>) -> Self {
        Self { kind, reason: reason.filter(|reason| !reason.trim().is_empty()) }
    }

    /// Returns true if the verdict is deny.
    pub fn is_deny(&self) -> bool {
        self.kind == VerdictKind::Deny
    }

    /// Returns the reason, or "no reason given".
    pub fn reason_text(&self) -> &str {
        self.reason.as_deref().unwrap_or("no reason given")
    }
}

/// A change to an operation. The event determines which is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// The new user message.
    Message(String),
    /// The new input of a tool, whole.
    Input(Object),
    /// The new output of a tool; see [`ToolResult::rewrite`](crate::ToolResult::rewrite).
    Output(Object),
}

/// An action on the history.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryAction {
    /// Replace it with these messages, which [`crate::history::validate`] has accepted.
    Mutate(Vec<Message>),
    /// Run a recipe on it and replace it with the result.
    Callback {
        /// The recipe's name.
        recipe: String,
        /// The recipe's arguments.
        args: BTreeMap<String, String>,
    },
}
