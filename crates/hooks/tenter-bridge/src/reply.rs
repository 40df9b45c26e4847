//! The decisions of hooks at one native event, in the terms of hosts. The host's file turns them into the native answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::Object;

/// The decisions of hooks at one native event. The default has no opinion.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostReply {
    /// The decision.
    pub verdict: Option<HostVerdict>,
    /// The whole native input that the call is to run with instead.
    pub input: Option<Object>,
    /// The message that the model is to read instead of the user's, in a host that can send it.
    pub message: Option<String>,
    /// The whole native result that the model is to read instead.
    pub output: Option<Value>,
    /// Text that the model is to read, in order.
    pub contexts: Vec<String>,
    /// The message on which the agent is to continue instead of stopping.
    pub continue_with: Option<String>,
    /// Messages to the user.
    pub notices: Vec<String>,
}

/// A decision about the action that follows the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostVerdict {
    /// It must not happen, for this reason. The reason is never empty.
    Deny(String),
    /// The user decides; this is the question.
    Ask(String),
    /// It may happen, and the host need not ask the user.
    Allow,
}

impl HostReply {
    /// Creates a denial.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { verdict: Some(HostVerdict::Deny(reason.into())), ..Self::default() }
    }

    /// Returns the reason, if this is a denial.
    pub fn denial(&self) -> Option<&str> {
        match &self.verdict {
            Some(HostVerdict::Deny(reason)) => Some(reason),
            _ => None,
        }
    }

    /// Returns the contexts as one text.
    pub fn context(&self) -> Option<String> {
        (!self.contexts.is_empty()).then(|| self.contexts.join("\n\n"))
    }
}
