//! What one hook answered, in terms that no protocol owns.

mod field_reader;
pub(crate) mod stdout;

use std::collections::BTreeMap;

use thiserror::Error;

use crate::{Message, Object};

pub(crate) use field_reader::FieldReader;

/// What a hook's stdout says, in either protocol.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedReply {
    /// The reply.
    pub reply: Reply,
    /// What has no effect: fields that are unknown, or that do nothing at the event.
    pub warnings: Vec<String>,
    /// What was meant to have an effect and cannot be used. A hook that fails open only loses these fields; one that fails
    /// closed has failed (R61).
    pub defects: Vec<String>,
    /// Text that is no answer, to be recorded.
    pub text: Option<String>,
}

/// Why what a hook printed is no reply, whatever the hook's fail mode: the run failed (R61).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplyError {
    /// Not JSON, or not one object.
    #[error("its stdout is not one JSON object: {0}")]
    NotAnObject(String),
    /// A change that cannot be made.
    #[error("{0}")]
    Change(String),
}

/// What one hook answered. The default is silence: no opinion, nothing changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Its opinion on whether the thing may happen.
    pub verdict: Option<Verdict>,
    /// What it wants changed.
    pub rewrite: Option<Rewrite>,
    /// What it wants the model to read besides.
    pub context: Option<String>,
    /// Messages on which the agent shall go on.
    pub follow_ups: Vec<String>,
    /// What it wants done to the history.
    pub history: Option<HistoryAction>,
    /// What it wants recorded.
    pub log: Option<String>,
}

/// An opinion on whether a thing may happen. Silence is a fourth opinion: none (R23).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The opinion.
    pub kind: VerdictKind,
    /// Why.
    pub reason: Option<String>,
}

/// The three opinions, weakest first (R23).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VerdictKind {
    /// It may happen.
    Allow,
    /// The person shall decide.
    Ask,
    /// It must not happen.
    Deny,
}

impl Verdict {
    /// An opinion with a reason, if there is one worth the name.
    pub fn new(kind: VerdictKind, reason: Option<String>) -> Self {
        Self { kind, reason: reason.filter(|reason| !reason.trim().is_empty()) }
    }

    /// Whether this forbids.
    pub fn is_deny(&self) -> bool {
        self.kind == VerdictKind::Deny
    }

    /// The reason, or words that say there is none.
    pub fn reason_text(&self) -> &str {
        self.reason.as_deref().unwrap_or("no reason given")
    }
}

/// What a hook wants changed, by the event it was asked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// The user's message.
    Message(String),
    /// A tool's whole input.
    Input(Object),
    /// A tool's output: the fields given replace the fields that stand there.
    Output(Object),
}

/// What a hook wants done to the history.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryAction {
    /// Replace it by these messages, already checked by [`crate::history::validate`].
    Mutate(Vec<Message>),
    /// Run this recipe on it and replace it by what the recipe says.
    Callback {
        /// The recipe's name.
        recipe: String,
        /// The recipe's arguments.
        args: BTreeMap<String, String>,
    },
}
