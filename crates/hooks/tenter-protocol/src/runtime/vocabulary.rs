//! The words and numbers of the runtime protocol.

use serde::{Deserialize, Serialize};

/// The version of the runtime protocol.
pub const PROTOCOL: u32 = 1;

/// The argument with which a runtime hook is started, and the line with which an executable announces that it is one.
pub const SERVE: &str = "serve";

/// The environment variable that is `1` when an executable is asked for its events by a program that can serve it (S1).
pub const SERVE_VARIABLE: &str = "TENTER_SERVE";

/// The request with which a conversation begins (S5).
pub const INITIALIZE: &str = "initialize";
/// The notification that cancels an event request (S5).
pub const CANCEL: &str = "cancel";
/// The notification after which stdin is closed (S5).
pub const SHUTDOWN: &str = "shutdown";

/// The form of a runtime hook: `metadata.runtime` (S1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Started once and called many times; also in the one-shot form.
    Serve,
    /// There is no one-shot form.
    ServeOnly,
}

impl Runtime {
    /// The words in a manifest.
    pub const WORDS: [&str; 2] = ["serve", "serve-only"];

    /// Returns the word for it in manifests and listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Serve => Self::WORDS[0],
            Self::ServeOnly => Self::WORDS[1],
        }
    }
}

/// The parameters of `cancel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// The event request that is cancelled.
    pub id: u64,
}
