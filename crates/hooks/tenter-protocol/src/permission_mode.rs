//! The permission modes: which calls the user is asked about.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The calls about which the user is asked, the strictest mode first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// Every call that does more than read.
    Ask,
    /// Every call that does more than read and edit files.
    Edits,
    /// None.
    #[default]
    All,
}

impl PermissionMode {
    /// Every mode, the strictest first.
    pub const MODES: [Self; 3] = [Self::Ask, Self::Edits, Self::All];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Edits => "edits",
            Self::All => "all",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PermissionMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        Self::MODES.into_iter().find(|mode| mode.as_str() == text).ok_or(UnknownMode)
    }
}

/// The text is no permission mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be ask, edits or all")]
pub struct UnknownMode;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_as_they_are_written() {
        assert!(PermissionMode::MODES.is_sorted());
        for mode in PermissionMode::MODES {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert_eq!("Ask".parse::<PermissionMode>(), Err(UnknownMode));
    }
}
