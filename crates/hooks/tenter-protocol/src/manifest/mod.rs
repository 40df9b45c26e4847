//! The manifest protocol: a hook is a directory with a `HOOK.md`, whose front matter says when it runs, and a script.
//!
//! `format` reads the front matter; `payload` and `reply` are the two sides of a run; `static_action` replaces the script of a
//! static hook, `http_endpoint` the script of a hook behind HTTP, `claude_code` the payload and reply of hooks written for Claude Code. The
//! specification is `agent-hooks-specification.md`.

pub mod claude_code;
#[cfg(feature = "yaml")]
pub mod format;
pub mod http_endpoint;
mod payload;
mod payload_names;
mod reply;
pub mod rule;
pub mod setting;
mod static_action;

pub use claude_code::ClaudeCodeScript;
pub use http_endpoint::HttpEndpoint;
#[cfg(feature = "schema")]
pub(crate) use payload::payload_schema;
pub use payload::{Payload, payload};
pub use payload_names::{UnknownName, unknown_name};
pub use reply::{deny_by_exit, parse_reply};
pub use static_action::{Action, StaticActionText, actions_at};

use serde::{Deserialize, Serialize};

use crate::Object;
use crate::executable::Subscription;
use crate::runtime::{Runtime, Service};
use rule::Rule;
use setting::HookSetting;

/// A manifest with every value set and every number within its range. It is stored without its metadata, and without values that are
/// usual.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the hook.
    pub name: String,
    /// The purpose of the hook.
    pub description: String,
    /// The event of `trigger`; the payload's `event_type` repeats its spelling (R2).
    pub trigger: Subscription,
    /// Further events (R67), each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Subscription>,
    /// The tool calls that it applies to.
    pub matcher: MatcherText,
    /// The time limit of a run, in milliseconds (100 to 600000).
    pub timeout_ms: u64,
    /// True if the agent does not wait for it.
    pub asynchronous: bool,
    /// Hooks with a higher priority run earlier (0 to 1000).
    pub priority: u16,
    /// The values that the file does not set.
    pub unset: Unset,
    /// Tenter's own extensions (R17).
    #[serde(default, skip_serializing_if = "Extensions::are_usual")]
    pub extensions: Extensions,
    /// The whole of `metadata`, extensions included.
    #[serde(skip)]
    pub metadata: Object,
}

impl Manifest {
    /// Returns all its events, the event of `trigger` first.
    pub fn subscriptions(&self) -> Vec<Subscription> {
        [self.trigger].into_iter().chain(self.further.iter().copied()).collect()
    }
}

impl Extensions {
    fn are_usual(&self) -> bool {
        *self == Self::default()
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub struct MatcherText {
    /// A regular expression that matches anywhere in the tool's name. `^Shell$` matches only that tool.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "regex")))]
    pub tool: Option<String>,
    /// A regular expression that matches anywhere in a value of the tool's input.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "regex")))]
    pub pattern: Option<String>,
}

/// Tenter's extensions below `metadata` (R17).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent settings")]
pub struct Extensions {
    /// `fail: closed`: a failure at a blocking event denies (R42). `None` if not set.
    pub fail_closed: Option<bool>,
    /// `mode: monitor`: its decisions are recorded and not applied. `None` if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitors: Option<bool>,
    /// `protected: true`: no hook of a higher layer can shadow it (R9).
    pub protected: bool,
    /// `workdir: hook`: it starts in its own directory (R40).
    #[serde(alias = "starts_in_own_folder")]
    pub starts_in_own_directory: bool,
    /// `confine: pure`: it runs without network, secrets and writes (F11).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pure: bool,
    /// `env: [NAME]`: environment variables that it gets although they look like model keys (R40).
    pub env: Vec<String>,
    /// `budget_ms`: the duration in milliseconds above which a run is reported as too slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// `payload: light`: its payload has no history (R57). The default with `url`.
    pub light_payload: bool,
    /// `action` and the keys that belong to it: the action of a static hook.
    #[serde(alias = "declaration")]
    pub static_action: Option<StaticActionText>,
    /// `ready_made`: the name of the ready-made hook that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_made: Option<String>,
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
    /// `services`: the services that it may request while it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<Service>,
    /// `settings` and `set`: what the user can set, and the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<HookSetting>,
}
