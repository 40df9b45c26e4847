//! How work on a user message ends, and which exit code goes with it (R56).

use tenter_protocol::event::ExitReason;
use tenter_protocol::{Diagnostic, Severity};
use thiserror::Error;

use super::Refused;
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
    /// The hook that refused the message, where one did.
    pub refused: Option<Refused>,
}

/// What can fail in an agent.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The model gave no response.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model gave no response, and is not asked again.
    #[error("{error}; {why}")]
    GaveUp {
        /// What went wrong the last time.
        error: ModelError,
        /// Why it is not asked again.
        why: String,
    },
    /// The conversation could not be saved.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentError {
    /// The model is not asked again, because of `why`.
    pub(super) fn gave_up(error: &ModelError, why: String) -> Self {
        Self::GaveUp { error: error.clone(), why }
    }

    /// The error as a finding.
    pub fn diagnostic(&self) -> Diagnostic {
        let id = match self {
            Self::Model(ModelError::Expectation { .. }) => "expectation-not-met",
            Self::Model(ModelError::TooLong { .. }) => "conversation-too-long",
            Self::Model(_) | Self::GaveUp { .. } => "model-failed",
            Self::Store(_) => "conversation-not-saved",
        };
        Diagnostic { help: self.help(), ..Diagnostic::new(id, Severity::Error, self.to_string()) }
    }

    /// What the user can do about it.
    fn help(&self) -> Option<String> {
        match self {
            Self::Model(ModelError::Refused { help, .. } | ModelError::UnknownModel { help, .. }) => {
                help.clone()
            }
            Self::Model(ModelError::TooLong { .. }) => Some(
                "compact it (`tenter run -r compact --follow`), start a new conversation, continue with a fork of this one from \
                 before it grew (`tenter conversation fork`), or use a model that holds more"
                    .to_owned(),
            ),
            Self::Model(ModelError::Passing { .. }) | Self::GaveUp { .. } => {
                Some("try again later; `--follow` continues from what was done so far".to_owned())
            }
            Self::Model(_) | Self::Store(_) => None,
        }
    }

    /// The status of work that this error ended.
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Model(ModelError::Cancelled) => Status::Interrupted,
            _ => Status::Failed,
        }
    }
}
