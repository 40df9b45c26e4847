//! The manifest protocol: a hook is a folder with `HOOK.md`, whose front matter says when it runs, and a script.
//!
//! `front_matter` reads what stands between the `---` lines, with the place of every value; `payload` and `reply` are the two
//! sides of a run; `declaration` is what stands in the script's place where a hook has no code. The specification is `agent-hooks-specification.md`.

mod declaration;
#[cfg(feature = "manifest")]
pub mod front_matter;
mod payload;
mod reply;

pub use declaration::{Action, Declaration, actions_at};
pub use payload::payload;
pub use reply::{deny_by_exit, parse_reply};

use serde::{Deserialize, Serialize};

use crate::executable::Subscription;
use crate::{EventName, Object};

/// A manifest as it is used: every value set, numbers within their ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The hook's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The event that it runs at.
    pub event: EventName,
    /// The event in the manifest's own word; the payload's `event_type` echoes it (R2).
    pub trigger: &'static str,
    /// Further events that it runs at (R67), none of them twice.
    pub further: Vec<Subscription>,
    /// Which tool calls it is about.
    pub matcher: MatcherText,
    /// Milliseconds (100 to 600000).
    pub timeout_ms: u64,
    /// Whether nobody waits for it.
    pub asynchronous: bool,
    /// Higher runs earlier (0 to 1000).
    pub priority: u16,
    /// What the file leaves to be set elsewhere.
    pub unset: Unset,
    /// Tenter's own extensions (R17).
    pub extensions: Extensions,
    /// `metadata` as it was written, extensions included.
    pub metadata: Object,
}

impl Manifest {
    /// All events that it runs at, that of `trigger` first.
    pub fn subscriptions(&self) -> Vec<Subscription> {
        let first = Subscription { event: self.event, spelling: self.trigger };
        [first].into_iter().chain(self.further.iter().copied()).collect()
    }
}

/// Which values a manifest does not give itself, so that `hooks.toml` may give its defaults for them (R18).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unset {
    /// It has no `timeout`.
    pub timeout: bool,
    /// It has no `async`.
    pub asynchronous: bool,
}

/// A manifest's matcher as it was written: regular expressions, not compiled yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatcherText {
    /// On the tool's name.
    pub tool: Option<String>,
    /// On the tool's input.
    pub pattern: Option<String>,
}

/// What Tenter reads from `metadata` (R17).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extensions {
    /// `fail: closed`: a failure at a blocking event denies (R42). `None` where the manifest does not say.
    pub fail_closed: Option<bool>,
    /// `protected: true`: no hook of a higher layer takes its place (R9).
    pub protected: bool,
    /// `workdir: hook`: it starts in its own folder (R40).
    pub starts_in_own_folder: bool,
    /// `env: [NAME]`: variables that it gets although they look like model keys (R40).
    pub env: Vec<String>,
    /// `payload: light`: it does without the history (R57).
    pub light_payload: bool,
    /// `action`, and what belongs to it: what a hook without code does.
    pub declaration: Option<Declaration>,
}
