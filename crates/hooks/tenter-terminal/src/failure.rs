//! The failure of a command: its exit code (R56), its message, and the next step.

use std::fmt;
use std::process::ExitCode;

use tenter_engine::trust::TrustError;
use tenter_proc::Cancel;
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
pub enum Exit {
    /// Done.
    Done,
    /// Failed.
    Failed,
    /// Wrong usage.
    Usage,
    /// Something of the project is not trusted: its hooks, a recipe, or its choice of model.
    Untrusted,
    /// A hook blocked the work of an agent.
    Blocked,
    /// An agent reached its turn limit.
    TurnLimit,
    /// The user interrupted it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Blocked => 3,
            Exit::Untrusted => 4,
            Exit::TurnLimit => 5,
            Exit::Interrupted => 130,
        })
    }
}

/// The exit code of a command, or why it failed.
pub type CommandResult = Result<Exit, Failure>;

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    /// The exit code of the process.
    pub exit: Exit,
    /// The error message.
    pub message: String,
    /// The next step.
    pub help: Option<String>,
}

impl Failure {
    /// Creates a failure with exit code 1.
    pub fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: message.into(), help: None }
    }

    /// Returns a failure with the message of an error.
    pub fn caused_by(error: impl fmt::Display) -> Self {
        Self::new(error.to_string())
    }

    /// Returns a failure because of wrong usage, with exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Replaces a refusal of what is not trusted by an interruption if the user pressed Ctrl-C at the question.
    #[must_use]
    pub fn or_interrupted(self, cancel: &Cancel) -> Self {
        if self.exit != Exit::Untrusted || !cancel.is_cancelled() {
            return self;
        }
        Self {
            exit: Exit::Interrupted,
            ..Self::new("interrupted: nothing was trusted, and nothing ran")
        }
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

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        let help = matches!(error, TrustError::Unnameable(_)).then(|| {
            "rename the directory; hooks of your own, in ~/.config/agents/hooks, need no trust"
                .to_owned()
        });
        Self { help, ..Self::new(error.to_string()) }
    }
}
