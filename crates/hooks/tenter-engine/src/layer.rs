//! The layers that hooks, skills and recipes come from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The origin of a hook, highest precedence first (R8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// `/etc/tenter`, which only root changes (M1).
    Managed,
    /// `.kodelet/hooks` and `.agents/hooks` of the project.
    Project,
    /// A plugin of the project.
    ProjectPlugin,
    /// The user's own directories.
    User,
    /// A plugin of the user.
    UserPlugin,
    /// Part of Tenter.
    #[serde(rename = "builtin")]
    BuiltIn,
}

impl Layer {
    /// Returns the word for it in listings and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Project => "project",
            Self::ProjectPlugin => "project-plugin",
            Self::User => "user",
            Self::UserPlugin => "user-plugin",
            Self::BuiltIn => "builtin",
        }
    }

    /// Returns whether hooks of this layer run only when they are trusted (R45).
    pub fn needs_trust(self) -> bool {
        matches!(self, Self::Project | Self::ProjectPlugin)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
