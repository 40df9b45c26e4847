//! Errors of tools.

use std::io;
use std::path::Path;

use tenter_proc::Cancel;

/// An error of a tool, as a message for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(String);

impl ToolError {
    /// Creates an error with this message: what happened, to what, and what to do next.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Returns an error of the file system at `path`.
    pub(crate) fn at(path: &Path, error: &io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }

    /// Returns the error of a cancelled call.
    pub(crate) fn interrupted() -> Self {
        Self::new("interrupted")
    }
}

/// Returns an error if the call was cancelled.
pub(crate) fn check_cancelled(cancel: &Cancel) -> Result<(), ToolError> {
    if cancel.is_cancelled() { Err(ToolError::interrupted()) } else { Ok(()) }
}
