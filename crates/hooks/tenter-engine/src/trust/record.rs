//! The records of the trust store: what can be trusted, and what was.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_protocol::executable::Subscription;

use super::fingerprint::Covered;
use super::hasher::Fingerprint;

/// The kinds of things that can be trusted besides hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustedKind {
    /// A recipe.
    Recipe,
    /// A model that the project chose (R77).
    Model,
    /// An MCP server of the project.
    McpServer,
    /// A directory that the project's `plugin.lock` names as the source of a plugin.
    PluginSource,
    /// `root = true` of the project's settings (R89).
    Root,
}

impl TrustedKind {
    /// Returns the prefix of the names under which this kind is trusted.
    fn prefix(self) -> &'static str {
        match self {
            Self::Recipe => "recipe:",
            Self::Model => "model:",
            Self::McpServer => "mcp:",
            Self::PluginSource => "plugin-source:",
            Self::Root => "root:",
        }
    }

    /// Returns the kind of a name; `None` for a hook.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Recipe, Self::Model, Self::McpServer, Self::PluginSource, Self::Root]
            .into_iter()
            .find(|kind| name.starts_with(kind.prefix()))
    }
}

/// Returns the name under which something of this kind is trusted.
pub fn trust_name(kind: TrustedKind, name: &str) -> String {
    format!("{}{name}", kind.prefix())
}

/// A trusted content of a hook or recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// Its fingerprint.
    pub hash: Fingerprint,
    /// Its path, for display.
    pub path: String,
    /// The events that it had, in its own names; empty if it had never been queried.
    pub events: Vec<String>,
    /// When it was trusted, RFC 3339 in UTC.
    pub trusted_at: String,
    /// True if the user agreed that it shadows a hook of their own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub displaces: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A hook or recipe to be trusted as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustEntry {
    /// Its full name.
    pub name: String,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its path.
    pub path: PathBuf,
    /// Its events in its own names, if they are known.
    pub events: Vec<String>,
    /// True if the user agrees that it shadows a hook of their own.
    pub displaces: bool,
    /// The content that the trust in a hook covers, to be kept so that a change can be shown; `None` if it is already kept.
    pub covered: Option<Covered>,
}

impl TrustEntry {
    /// Creates an entry without known events that shadows no user hook.
    pub fn new(name: impl Into<String>, fingerprint: Fingerprint, path: &Path) -> Self {
        let (name, path) = (name.into(), path.to_owned());
        Self { name, fingerprint, path, events: Vec::new(), displaces: false, covered: None }
    }
}

/// Returns the names of events, without duplicates: one name of an executable may mean several events.
pub(crate) fn spellings(subscriptions: &[Subscription]) -> Vec<String> {
    let mut spellings: Vec<String> =
        subscriptions.iter().map(|subscription| subscription.spelling.to_owned()).collect();
    spellings.dedup();
    spellings
}

/// A digest of the names and contents of the project's hooks that run, including their settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectState(pub(crate) String);
