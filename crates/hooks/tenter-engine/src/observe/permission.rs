//! The user's permission of a tool call, and the answer to a hook's `ask`.

use std::ops::Not;

use serde::{Deserialize, Serialize};

/// The record of the decision whether a call that needs the user's permission may run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRecord {
    /// The permission mode: `ask` or `edits`.
    pub mode: String,
    /// The source of the decision: `mode`, `rule` or `user`.
    pub by: String,
    /// True if the call may run.
    pub allowed: bool,
    /// The user's answer in the words that users are shown: `yes`, `always`, `no` or `nobody to ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// True if the answer was given earlier in the session.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub remembered: bool,
    /// The rules that allow the call, or that the user added with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The reason why the user did not allow it, if they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

// For Tenter's own commands and tests.
#[doc(hidden)]
impl PermissionRecord {
    /// Creates the record of a decision in this mode.
    pub fn new(mode: &str, source: &PermissionSource) -> Self {
        let mut record = Self {
            mode: mode.to_owned(),
            by: source.as_str().to_owned(),
            allowed: source.allows(),
            ..Self::default()
        };
        match source {
            PermissionSource::Mode => {}
            PermissionSource::Rules(rules) => record.rules.clone_from(rules),
            PermissionSource::User { answer, remembered, added, reason } => {
                record.answer = Some(answer.as_str().to_owned());
                record.remembered = *remembered;
                record.rules.clone_from(added);
                record.reason.clone_from(reason);
            }
        }
        record
    }
}

/// The source of a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionSource {
    /// The mode does not ask about such a call.
    Mode,
    /// These rules allow it.
    Rules(Vec<String>),
    /// The user, if there was one to ask.
    User {
        /// The answer.
        answer: PermissionAnswer,
        /// True if it was given earlier in this session, as "always".
        remembered: bool,
        /// The rules that the user added with the answer.
        added: Vec<String>,
        /// The reason why the user did not allow it, if they said so.
        reason: Option<String>,
    },
}

impl PermissionSource {
    /// Returns whether the call may run.
    pub fn allows(&self) -> bool {
        match self {
            Self::Mode | Self::Rules(_) => true,
            Self::User { answer, .. } => answer.allows(),
        }
    }

    /// Returns the word for it in records: `mode`, `rule` or `user`.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Rules(_) => "rule",
            Self::User { .. } => "user",
        }
    }
}

/// An answer to `ask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// The call may run, this time.
    Yes,
    /// The call may run, this time, without its confinements.
    Unconfined,
    /// This call may run whenever this hook asks about it in this session.
    Always,
    /// The call must not run.
    No,
    /// There is no user to ask; the configuration decides.
    Unattended {
        /// True if the configuration allows the call.
        allowed: bool,
    },
}

impl PermissionAnswer {
    /// Returns the words for it in the terminal and in records.
    #[doc(hidden)] // for Tenter's own commands
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Unconfined => "yes, unconfined",
            Self::Always => "always",
            Self::No => "no",
            Self::Unattended { .. } => "nobody to ask",
        }
    }

    /// Returns whether the call may run.
    pub fn allows(self) -> bool {
        let is_allowed = matches!(self, Self::Unattended { allowed: true });
        is_allowed || matches!(self, Self::Yes | Self::Unconfined | Self::Always)
    }
}
