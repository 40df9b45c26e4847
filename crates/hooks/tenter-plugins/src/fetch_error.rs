//! The failure of a fetch of a plugin.

use tenter_protocol::Diagnostic;

/// The failure of a fetch of a plugin.
#[derive(Debug)]
pub enum FetchError {
    /// The fetch was cancelled.
    Cancelled,
    /// The plugin was refused, for at least one reason.
    Refused(Vec<Diagnostic>),
}

impl FetchError {
    /// Replaces the diagnostics with another one, unless the fetch was cancelled.
    pub(crate) fn instead(self, words: impl FnOnce() -> Diagnostic) -> Self {
        match self {
            Self::Cancelled => self,
            Self::Refused(_) => words().into(),
        }
    }
}

impl From<Diagnostic> for FetchError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Refused(vec![diagnostic])
    }
}
