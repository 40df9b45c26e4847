//! The result of the work on a user message, and its exit code (R56).

use tenter_protocol::event::ExitReason;
use tenter_protocol::{Diagnostic, Severity};
use thiserror::Error;

use super::DeniedByHook;
use crate::model::ModelError;
use crate::store::StoreError;

/// The status at the end of the work on a user message, or of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The agent answered the message.
    Done,
    /// A hook denied the message or the session.
    Blocked,
    /// Something failed.
    Failed,
    /// The turn limit was reached.
    MaxTurns,
    /// Ctrl-C or a termination signal.
    Interrupted,
}

impl Status {
    /// Returns the status as in the JSON stream and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::MaxTurns => "max_turns",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the exit code of `tenter run` (R56).
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Blocked => 3,
            Self::MaxTurns => 5,
            Self::Interrupted => 130,
        }
    }

    /// Returns the exit reason of a session with this status (R60).
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

/// The result of the work on one user message.
#[derive(Debug)]
pub struct Finish {
    /// The status.
    pub status: Status,
    /// The model's last text.
    pub response: String,
    /// The error, if there was one.
    pub error: Option<AgentError>,
    /// The hook that denied the message, where one did.
    pub denial: Option<DeniedByHook>,
}

/// An error of an agent.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The model gave no response.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model gave no response, and there is no further attempt.
    #[error("{error}; {why}")]
    GaveUp {
        /// The last error.
        error: ModelError,
        /// The reason why there is no further attempt.
        why: String,
    },
    /// The conversation could not be saved.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentError {
    /// Returns the error for a last failed attempt; `why` is the reason why there is no further one.
    pub(super) fn gave_up(error: &ModelError, why: String) -> Self {
        Self::GaveUp { error: error.clone(), why }
    }

    /// Converts the error into a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        let id = match self {
            Self::Model(ModelError::Expectation { .. }) => "expectation-not-met",
            Self::Model(ModelError::TooLong { .. }) => "conversation-too-long",
            Self::Model(_) | Self::GaveUp { .. } => "model-failed",
            Self::Store(_) => "conversation-not-saved",
        };
        Diagnostic { help: self.help(), ..Diagnostic::new(id, Severity::Error, self.to_string()) }
    }

    /// Returns the help for the user.
    fn help(&self) -> Option<String> {
        match self {
            Self::Model(ModelError::Rejected { help, .. } | ModelError::UnknownModel { help, .. }) => {
                help.clone()
            }
            Self::Model(ModelError::TooLong { .. }) => Some(
                "compact it (`tenter run -r compact --follow`), start a new conversation, fork an earlier state of this one \
                 (`tenter conversation fork`), or use a model with a larger context window"
                    .to_owned(),
            ),
            Self::Model(ModelError::Transient { .. }) | Self::GaveUp { .. } => {
                Some("try again later; `--follow` continues the conversation".to_owned())
            }
            Self::Model(_) | Self::Store(_) => None,
        }
    }

    /// Returns the status of work that ended with this error.
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Model(ModelError::Cancelled) => Status::Interrupted,
            _ => Status::Failed,
        }
    }
}
