//! A hook that can run: who it is, where it came from, when and how it is to be run.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenter_protocol::EventName;
use tenter_protocol::executable::Subscription;

use crate::stamp::FileStamp;

/// A hook that can run. Its identity is its full name and its fingerprint, never its place in a list.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The full name: a file name, or `org/repo/name` for a plugin's hook.
    pub name: String,
    /// Where it came from.
    pub layer: Layer,
    /// The file.
    pub path: PathBuf,
    /// The events that it is told of, in its own words.
    pub subscriptions: Vec<Subscription>,
    /// What it is made of.
    pub fingerprint: Fingerprint,
    /// What the file looked like when the fingerprint was taken.
    pub stamp: FileStamp,
    /// Whether it runs only as long as its content is what the fingerprint shows: a project's hook, unless the trust gate is
    /// switched off (R45, R47).
    pub pinned: bool,
    /// What it is held to.
    pub policy: HookPolicy,
}

impl Hook {
    /// The subscription for an event, if the hook has one.
    pub fn subscription(&self, event: EventName) -> Option<Subscription> {
        self.subscriptions.iter().find(|subscription| subscription.event == event).copied()
    }
}

/// Where a hook came from, highest precedence first (R8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// `.kodelet/hooks` and `.agents/hooks` of the project.
    Project,
    /// A plugin of the project.
    ProjectPlugin,
    /// The person's own folders.
    User,
    /// A plugin of the person's.
    UserPlugin,
    /// Part of Tenter.
    BuiltIn,
}

impl Layer {
    /// The word for it in listings and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::ProjectPlugin => "project-plugin",
            Self::User => "user",
            Self::UserPlugin => "user-plugin",
            Self::BuiltIn => "built-in",
        }
    }

    /// Whether hooks of this layer run only when they are trusted (R45).
    pub fn needs_trust(self) -> bool {
        matches!(self, Self::Project | Self::ProjectPlugin)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// SHA-256 over everything of a hook that would run, in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

/// What a hook is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookPolicy {
    /// From start to SIGTERM (R38).
    pub timeout: Duration,
    /// What a failure means (R42).
    pub fail: FailMode,
    /// Higher runs earlier; an executable has 100 (R22).
    pub priority: u16,
}

impl Default for HookPolicy {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), fail: FailMode::Open, priority: 100 }
    }
}

/// What the failure of a hook means at an event that it could have blocked (R42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailMode {
    /// The agent goes on, with a warning.
    #[default]
    Open,
    /// The thing is denied, with a reason that says that the hook failed.
    Closed,
}
