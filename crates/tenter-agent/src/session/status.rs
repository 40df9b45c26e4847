//! How work on a user message ends, and which exit code goes with it (R56).

use tenter_protocol::event::ExitReason;
use tenter_protocol::{Diagnostic, Severity};
use thiserror::Error;

use crate::model::ModelError;
use crate::store::StoreError;

/// How work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The message was answered.
    Done,
    /// A hook refused the message or the session.
    Blocked,
    /// Something failed.
    Failed,
    /// The turn limit was hit.
    MaxTurns,
    /// Ctrl-C or a termination signal.
    Interrupted,
}

impl Status {
    /// The word for it in the JSON stream and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::MaxTurns => "max_turns",
            Self::Interrupted => "interrupted",
        }
    }

    /// The exit code of `tenter run` (R56).
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Blocked => 3,
            Self::MaxTurns => 5,
            Self::Interrupted => 130,
        }
    }

    /// Why a session that ends with this status ends (R60).
    pub fn exit_reason(self) -> ExitReason {
        match self {
            Self::Done => ExitReason::Done,
            Self::Blocked => ExitReason::Blocked,
            Self::Failed => ExitReason::Error,
            Self::MaxTurns => ExitReason::MaxTurns,
            Self::Interrupted => ExitReason::Interrupted,
        }
    }
}

/// How work on one user message ended.
#[derive(Debug)]
pub struct Finish {
    /// How.
    pub status: Status,
    /// The model's last text.
    pub response: String,
    /// What failed, where something did.
    pub error: Option<AgentError>,
}

/// What can fail in an agent.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The model gave no response.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The conversation could not be saved.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentError {
    /// The error as a finding.
    pub fn diagnostic(&self) -> Diagnostic {
        let id = match self {
            Self::Model(ModelError::Expectation { .. }) => "expectation-not-met",
            Self::Model(_) => "model-failed",
            Self::Store(_) => "conversation-not-saved",
        };
        Diagnostic::new(id, Severity::Error, self.to_string())
    }

    /// The status of work that this error ended.
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Model(ModelError::Cancelled) => Status::Interrupted,
            _ => Status::Failed,
        }
    }
}
