//! A hook that can run: its identity, its origin, when and how it runs.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenter_protocol::EventName;
use tenter_protocol::executable::Subscription;

use crate::matcher::Matcher;
use crate::static_action::StaticAction;
use crate::trust::Pin;

/// A hook that can run. Its identity is its full name and its fingerprint, never its place in a list.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The full name: a file name, or `org/repo/name` for a plugin's hook.
    pub name: String,
    /// The layer that it was found in.
    pub layer: Layer,
    /// The file of an executable, the directory of a manifest hook.
    pub path: PathBuf,
    /// How it exchanges payloads and replies.
    pub protocol: Protocol,
    /// The events that it subscribes to, in its own spelling.
    pub subscriptions: Vec<Subscription>,
    /// The hash of its content.
    pub fingerprint: Fingerprint,
    /// What it is compared with right before it runs, if it must be trusted: a project's hook, unless the trust gate is off
    /// (R45, R47).
    pub pin: Option<Pin>,
    /// Its limits and its priority.
    pub policy: HookPolicy,
    /// Withheld environment variables that the user passes to it, in addition to those that its manifest requests (R40).
    pub env: Vec<String>,
}

impl Hook {
    /// The subscription for an event, if the hook has one.
    pub fn subscription(&self, event: EventName) -> Option<Subscription> {
        self.subscriptions.iter().find(|subscription| subscription.event == event).copied()
    }

    /// The plugin that it belongs to, `org/repo`.
    pub fn plugin(&self) -> Option<&str> {
        let is_of_plugin = matches!(self.layer, Layer::ProjectPlugin | Layer::UserPlugin);
        self.name.rsplit_once('/').filter(|_| is_of_plugin).map(|(plugin, _)| plugin)
    }

    /// Its action, if it is static.
    pub fn static_action(&self) -> Option<&StaticAction> {
        match &self.protocol {
            Protocol::Manifest(manifest) => match &manifest.implementation {
                Implementation::Static(declared) => Some(declared),
                Implementation::Script(_) => None,
            },
            Protocol::Executable => None,
        }
    }

    pub(crate) fn matcher_mut(&mut self) -> Option<&mut Matcher> {
        match &mut self.protocol {
            Protocol::Executable => None,
            Protocol::Manifest(manifest) => manifest.matcher.as_mut(),
        }
    }

    /// Its matcher, if it has one and the event is about a tool: at other events a matcher is ignored (R19).
    pub(crate) fn matcher_at(&self, event: EventName) -> Option<&Matcher> {
        self.matcher().filter(|_| event.lifecycle().matcher)
    }

    /// Its matcher, if it has one.
    pub fn matcher(&self) -> Option<&Matcher> {
        match &self.protocol {
            Protocol::Executable => None,
            Protocol::Manifest(manifest) => manifest.matcher.as_ref(),
        }
    }
}

/// How a hook exchanges payloads and replies.
#[derive(Debug, Clone)]
pub enum Protocol {
    /// A program with the commands `hook` and `run`.
    Executable,
    /// A directory with a `HOOK.md`, and a script unless the hook is static.
    Manifest(Box<ManifestHook>),
}

impl Protocol {
    /// The word for it in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Executable => "executable",
            Self::Manifest(manifest) => match manifest.implementation {
                Implementation::Script(_) => "manifest",
                Implementation::Static(_) => "declared",
            },
        }
    }
}

/// What a manifest says about its hook, except for its events.
#[derive(Debug, Clone)]
pub struct ManifestHook {
    /// What the hook is for, in the words of its author.
    pub description: String,
    /// What it does.
    pub implementation: Implementation,
    /// Which tool calls it runs on; all of them if there is none.
    pub matcher: Option<Matcher>,
    /// Whether it starts in its own directory instead of the project's (R40).
    pub starts_in_own_directory: bool,
    /// Whether its payload lacks the history (R57).
    pub light_payload: bool,
    /// Environment variables that it receives although they look like model keys (R40).
    pub env: Vec<String>,
    /// Whether no hook of a higher layer shadows it (R9).
    pub protected: bool,
}

/// What a manifest hook does.
#[derive(Debug, Clone)]
pub enum Implementation {
    /// A script.
    Script(EntryPoint),
    /// An action in the manifest: no process is started.
    Static(Box<StaticAction>),
}

/// A manifest hook's script (R15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    /// The script.
    pub path: PathBuf,
    /// The program that runs it; none if it is executable.
    pub interpreter: Option<&'static str>,
}

/// The origin of a hook, highest precedence first (R8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
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
    /// The word for it in listings and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::ProjectPlugin => "project-plugin",
            Self::User => "user",
            Self::UserPlugin => "user-plugin",
            Self::BuiltIn => "builtin",
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

/// SHA-256 over everything that a hook's trust covers, in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

/// Minimum and maximum timeout of a hook in milliseconds (R16).
pub const TIMEOUTS_MS: (u64, u64) = (100, 600_000);
/// Minimum and maximum priority (R16).
pub const PRIORITIES: (u64, u64) = (0, 1000);

/// The limits and the priority of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookPolicy {
    /// Time from start to SIGTERM (R38).
    pub timeout: Duration,
    /// What a failure means (R42).
    pub fail: FailMode,
    /// Hooks with a higher priority run earlier; an executable has 100 (R22).
    pub priority: u16,
    /// Whether it runs in the background (R22).
    pub asynchronous: bool,
}

impl Default for HookPolicy {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            fail: FailMode::Open,
            priority: 100,
            asynchronous: false,
        }
    }
}

/// What the failure of a hook means at an event that it could have blocked (R42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailMode {
    /// The agent continues, with a warning.
    #[default]
    Open,
    /// The event is denied, with a reason that says that the hook failed.
    Closed,
}
