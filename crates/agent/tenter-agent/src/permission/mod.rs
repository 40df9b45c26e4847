//! Decides whether a tool call has the user's permission.
//!
//! Hooks come first: what a hook denies does not run, and what a hook explicitly allows needs no further permission. A hook's `ask`
//! asks the user (R30, R71), and the answer settles it. For all other calls the [`PermissionMode`] says whether the user is asked,
//! unless [`Rules`] allow the call, or it is a command that only reads. [`Restrictions`] make all of this stricter: a denied call
//! does not run, whatever hooks allow. In plan mode nothing runs that may change something.

mod answers;
mod command_line;
mod git_settings;
#[cfg(test)]
mod offers;
mod proposal;
mod restriction;
mod rule;
mod rules;

use std::path::Path;

use tenter_proc::Cancel;
use tenter_protocol::ToolCall;
use tenter_protocol::runtime::Question;

pub use answers::Permissions;
pub(crate) use answers::{PermissionQuestion, RecordedAnswer};
pub use restriction::Restrictions;
pub use rule::{Rule, RuleError};
pub(crate) use rules::CallContext;
pub use rules::{RuleSource, RuleStore, Rules};
pub use tenter_engine::PermissionAnswer;
pub use tenter_protocol::permission_mode::{PermissionMode, UnknownMode};

/// Asks the user a question. Without a user, the answer is fixed.
pub trait Asker: Send + Sync {
    /// Asks whether `call` may run, for the hook `hook` and its `reason`.
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer;

    /// Asks whether a call may run, because the permission mode asks about it. Without a user, it may not.
    fn permits(&self, request: &PermissionRequest<'_>) -> PermissionReply {
        let _ = request;
        PermissionReply::NoUser
    }

    /// Asks whether file tools may change the protected `place` (R76) for the rest of the session; `file` is the first file to
    /// change. Without a user, the answer is no.
    fn agrees_to_write(&self, place: &Path, file: &Path) -> bool {
        let _ = (place, file);
        false
    }

    /// Asks a hook's question (S7), and returns the user's answer: one of its choices if it has any. Questions are put one after another.
    ///
    /// # Errors
    /// There is no answer.
    fn answer(&self, hook: &str, question: &Question, cancel: &Cancel) -> Result<String, NoAnswer> {
        let _ = (hook, question, cancel);
        Err(NoAnswer::NoUser)
    }
}

/// A call that the permission mode asks about.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRequest<'r> {
    /// The call that runs if the user allows it, as hooks left it.
    pub call: &'r ToolCall,
    /// The real path of the file that the call changes, if it is a call of a file tool.
    pub file: Option<&'r Path>,
    /// Rules that would allow the call, which the user can add; none if there are no such rules.
    pub rules: &'r [Rule],
    /// The rule that asks about the call, if it is not the mode.
    pub asking_rule: Option<&'r str>,
    /// A subagent makes the call.
    pub is_from_subagent: bool,
}

/// The user's answer to a [`PermissionRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionReply {
    /// The call may run, this time.
    Yes,
    /// Exactly this call may run for the rest of the session.
    Always,
    /// The rules of the request are added for the project.
    AddRules,
    /// The call must not run.
    No {
        /// The user's message to the model.
        reason: Option<String>,
    },
    /// There is no user to ask: the call must not run.
    NoUser,
}

/// The reason why there is no answer to a hook's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// There is no user to ask.
    NoUser,
    /// The user interrupted the agent, or the hook's request ended.
    Interrupted,
}

/// Gives the same answer to every question.
#[derive(Debug, Clone, Copy)]
pub struct FixedAnswer(pub PermissionAnswer);

impl Asker for FixedAnswer {
    fn ask(&self, _hook: &str, _reason: &str, _call: &ToolCall) -> PermissionAnswer {
        self.0
    }
}
