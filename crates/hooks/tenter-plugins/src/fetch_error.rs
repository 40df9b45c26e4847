//! Why a plugin could not be fetched.

use tenter_protocol::Diagnostic;

/// Why a plugin could not be fetched.
#[derive(Debug)]
pub enum FetchError {
    /// The fetch was cancelled.
    Cancelled,
    /// What is wrong; at least one diagnostic.
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
