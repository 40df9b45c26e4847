//! The manifest protocol: a hook is a directory with a `HOOK.md`, whose front matter says when it runs, and a script.
//!
//! `format` reads the front matter; `payload` and `reply` are the two sides of a run; `static_action` replaces the script of a
//! static hook, `http_endpoint` that of a hook behind HTTP, `claude_code` the payload and reply of hooks written for Claude Code. The
//! specification is `agent-hooks-specification.md`.

pub mod claude_code;
#[cfg(feature = "yaml")]
pub mod format;
pub mod http_endpoint;
mod payload;
mod reply;
pub mod rule;
mod static_action;

pub use claude_code::ClaudeCodeScript;
pub use http_endpoint::HttpEndpoint;
pub use payload::{Payload, payload};
pub use reply::{deny_by_exit, parse_reply};
pub use static_action::{Action, StaticActionText, actions_at};

use serde::{Deserialize, Serialize};

use crate::executable::Subscription;
use crate::runtime::{Runtime, Service};
use crate::{EventName, Object};
use rule::Rule;

/// A manifest with every value set and every number within its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The name of the hook.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The event of `trigger`.
    pub event: EventName,
    /// The spelling of that event in the manifest; the payload's `event_type` repeats it (R2).
    pub trigger: &'static str,
    /// Further events (R67), each once.
    pub further: Vec<Subscription>,
    /// The tool calls that it applies to.
    pub matcher: MatcherText,
    /// The time limit of a run, in milliseconds (100 to 600000).
    pub timeout_ms: u64,
    /// Whether the agent does not wait for it.
    pub asynchronous: bool,
    /// Hooks with a higher priority run earlier (0 to 1000).
    pub priority: u16,
    /// The values that the file does not set.
    pub unset: Unset,
    /// Tenter's own extensions (R17).
    pub extensions: Extensions,
    /// The whole of `metadata`, extensions included.
    pub metadata: Object,
}

impl Manifest {
    /// All its events, that of `trigger` first.
    pub fn subscriptions(&self) -> Vec<Subscription> {
        let first = Subscription { event: self.event, spelling: self.trigger };
        [first].into_iter().chain(self.further.iter().copied()).collect()
    }
}

/// The values that a manifest does not set, for which the defaults of `hooks.toml` apply (R18).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unset {
    /// There is no `timeout`.
    pub timeout: bool,
    /// There is no `async`.
    pub asynchronous: bool,
}

/// A manifest's matcher as written: regular expressions, not compiled yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatcherText {
    /// For the name of the tool.
    pub tool: Option<String>,
    /// For the input of the tool.
    pub pattern: Option<String>,
}

/// Tenter's extensions below `metadata` (R17).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extensions {
    /// `fail: closed`: a failure at a blocking event denies (R42). `None` if not set.
    pub fail_closed: Option<bool>,
    /// `protected: true`: no hook of a higher layer can shadow it (R9).
    pub protected: bool,
    /// `workdir: hook`: it starts in its own directory (R40).
    #[serde(rename = "starts_in_own_folder")]
    pub starts_in_own_directory: bool,
    /// `env: [NAME]`: environment variables that it gets although they look like model keys (R40).
    pub env: Vec<String>,
    /// `budget_ms`: how long a run may take, in milliseconds, before it is reported as too slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// `payload: light`: its payload has no history (R57). The default with `url`.
    pub light_payload: bool,
    /// `action` and the keys that belong to it: the action of a static hook.
    #[serde(rename = "declaration")]
    pub static_action: Option<StaticActionText>,
    /// `url` and the keys that belong to it: the hook is behind HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<HttpEndpoint>,
    /// `dialect: claude-code` and the keys that belong to it: the script is written for Claude Code (B36).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claude_code: Option<ClaudeCodeScript>,
    /// `match`: rules about the commands and paths of a call.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// `runtime`: it can be started once and called many times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// `services`: what it may request while it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
}
