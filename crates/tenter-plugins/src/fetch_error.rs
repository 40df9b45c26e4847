//! Why a plugin could not be fetched.

use tenter_protocol::Diagnostic;

/// Why a source gave nothing.
#[derive(Debug)]
pub enum FetchError {
    /// The work was cancelled.
    Cancelled,
    /// Everything that is wrong, at least one finding.
    Refused(Vec<Diagnostic>),
}

impl FetchError {
    /// The same, told in other words unless the work was cancelled.
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
