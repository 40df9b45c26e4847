//! How a command fails: its exit code (R56), what happened, and what to do next.

use std::fmt;
use std::process::ExitCode;

use tenter_protocol::Diagnostic;

/// The exit codes of `tenter` (R56).
///
/// | code | meaning |
/// | --- | --- |
/// | 0 | done |
/// | 1 | failed |
/// | 2 | wrong usage |
/// | 3 | blocked by a hook |
/// | 4 | something of the project is not trusted |
/// | 5 | the turn limit was hit |
/// | 130 | interrupted |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Failed.
    Failed,
    /// Wrong usage.
    Usage,
    /// Something of the project is not trusted: its hooks, a recipe, or its choice of model.
    Untrusted,
    /// The exit code of an agent's status.
    Agent(tenter_agent::session::Status),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Untrusted => 4,
            Exit::Agent(status) => status.exit_code(),
        })
    }
}

/// A command's failure.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code of the process.
    pub(crate) exit: Exit,
    /// What happened.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) help: Option<String>,
}

impl Failure {
    /// A failure with exit code 1.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: message.into(), help: None }
    }

    /// A failure because of wrong usage, with exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    /// Adds what to do next.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        let place =
            diagnostic.path.map(|path| format!(" ({})", path.display())).unwrap_or_default();
        Self { help: diagnostic.help, ..Self::new(format!("{}{place}", diagnostic.message)) }
    }
}

impl From<tenter_agent::store::StoreError> for Failure {
    fn from(error: tenter_agent::store::StoreError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<tenter_engine::trust::TrustError> for Failure {
    fn from(error: tenter_engine::trust::TrustError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<tenter_agent::ModelError> for Failure {
    fn from(error: tenter_agent::ModelError) -> Self {
        Self::new(error.to_string())
    }
}
