//! Three-valued logic: what is not known before a command runs is neither true nor false.

use serde::Serialize;

/// The truth of a condition, in the order of strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// It does not hold.
    No,
    /// It depends on what is not known.
    Perhaps,
    /// It holds.
    Yes,
}

impl Truth {
    /// Returns both: as weak as the weaker one.
    pub(crate) fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Returns whether at least one is true: as strong as the stronger one.
    pub(crate) fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// Returns the opposite. What is not known stays so.
    pub(crate) fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Perhaps => Self::Perhaps,
            Self::Yes => Self::No,
        }
    }

    /// Returns the strongest of several; `No` of none.
    pub(crate) fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut strongest = Self::No;
        for truth in truths {
            strongest = strongest.or(truth);
            if strongest == Self::Yes {
                break;
            }
        }
        strongest
    }

    /// Returns the weakest of several; `Yes` of none.
    pub(crate) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut weakest = Self::Yes;
        for truth in truths {
            weakest = weakest.and(truth);
            if weakest == Self::No {
                break;
            }
        }
        weakest
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Perhaps => "perhaps",
            Self::Yes => "yes",
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}
