//! The status of everything that was found, for listings and for trust questions.

use std::path::PathBuf;

use tenter_protocol::executable::Subscription;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::manifest::HttpEndpoint;
use tenter_protocol::runtime::Service;
use tenter_protocol::{Diagnostic, EventName, Severity, ToolCall};

use crate::hook_policy::FailMode;
use crate::layer::Layer;
use crate::matcher::Matcher;
use crate::trust::{Covered, Fingerprint, TrustEntry, Trusted, spellings};

/// An entry of a hooks directory, with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHook {
    /// The full name.
    pub name: String,
    /// The layer.
    pub layer: Layer,
    /// The root of the project that it was found for.
    pub project: PathBuf,
    /// The path of the file or directory.
    pub path: PathBuf,
    /// The status.
    pub status: Status,
    /// The events that it subscribes to; empty if they are unknown.
    pub subscriptions: Vec<Subscription>,
    /// The content that its trust covers, or would cover.
    pub covered: Covered,
    /// The fingerprint of that content, if it was computed.
    pub fingerprint: Option<Fingerprint>,
}

/// The status of an entry in a hooks directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The hook runs.
    Active,
    /// A hook of the same full name with higher precedence runs instead (R9).
    Shadowed {
        /// The path of that hook.
        by: PathBuf,
    },
    /// The name ends in `.disable` (R10).
    Disabled,
    /// The hook belongs to the project, and its current content is not trusted (R45).
    NotTrusted {
        /// True if other content was trusted under its name.
        has_changed: bool,
    },
    /// The hook belongs to the project, was trusted before the user had a hook of the same name, and would shadow it. The user's hook
    /// runs.
    WouldDisplace {
        /// The path of the user's hook.
        own: PathBuf,
    },
    /// The file, or the script of the manifest hook, is not executable.
    NotExecutable,
    /// The manifest hook is valid and has no script, so it does nothing (R15).
    NoScript,
    /// A `hooks.toml` disables it (R18).
    SwitchedOff {
        /// The path of the `hooks.toml`.
        by: PathBuf,
    },
    /// The hook cannot run.
    Invalid {
        /// The reason why, as the end of a sentence that begins with the hook's name.
        why: String,
    },
}

/// A project hook that would run if it were trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untrusted {
    /// The full name.
    pub name: String,
    /// The root of the project that it belongs to.
    pub project: PathBuf,
    /// The path of the file or directory.
    pub path: PathBuf,
    /// The layer.
    pub layer: Layer,
    /// The events in its manifest; empty for an executable, which is not queried before it is trusted (R11).
    pub subscriptions: Vec<Subscription>,
    /// The content that its trust would cover.
    pub covered: Covered,
    /// The fingerprint of that content.
    pub fingerprint: Fingerprint,
    /// The content that was last trusted under its name.
    pub previous: Option<Trusted>,
    /// The withheld variables that its manifest requests (R40).
    pub env: Vec<String>,
    /// The services that its manifest requests (S2).
    pub services: Vec<Service>,
    /// The server that its payloads would be sent to (S3).
    pub endpoint: Option<HttpEndpoint>,
    /// True if it runs without network, secrets and writes (F11).
    pub is_pure: bool,
    /// The path of the user's hook of the same name, which it would shadow (R9).
    pub displaces: Option<PathBuf>,
}

/// A hook that was found and cannot run (R61).
#[derive(Debug, Clone)]
pub struct Missing {
    /// The full name.
    pub name: String,
    /// The layer.
    pub layer: Layer,
    /// The file or directory.
    pub path: PathBuf,
    /// The reason why it cannot run, as the end of a sentence that begins with its name.
    pub why: String,
    /// The consequence (R42). An asynchronous hook blocks nothing.
    pub fail: FailMode,
    /// Its events; `None` if they are unknown.
    pub events: Option<Vec<EventName>>,
    /// Its matcher; `None` matches all tool calls.
    pub matcher: Option<Matcher>,
}

impl Missing {
    /// Returns the diagnostic of a hook that fails closed.
    pub(super) fn fails_closed(&self) -> Diagnostic {
        let Self { name, why, events, .. } = self;
        let effect = match events {
            None => "all that hooks can block is blocked".to_owned(),
            Some(events) => {
                let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
                format!("what it would have to see is blocked or withheld: {}", events.join(", "))
            }
        };
        let message = format!(
            "the hook {name} does not run: it {why}; it is set to fail closed, so {effect}"
        );
        Diagnostic::new("hook-fails-closed", Severity::Error, message)
            .help("fix it, or disable it by adding `.disable` to its name")
            .at(&self.path)
    }

    /// Returns whether it blocks an event, with the tool call `call` if it has one: the hook fails closed, and it subscribes to the event or
    /// its events are unknown.
    pub fn stops(&self, event: EventName, call: Option<&ToolCall>) -> bool {
        let is_about_call = match (&self.matcher, call) {
            (Some(matcher), Some(call)) => !matches!(matcher.matches(call), Ok(None)),
            _ => true,
        };
        let is_about = match &self.events {
            None => event.may(Power::Block),
            Some(events) => {
                events.contains(&event) && (event.is_deniable() || event.may(Power::RewriteOutput))
            }
        };
        self.fail == FailMode::Closed && is_about && is_about_call
    }
}

/// A project hook that was trusted and no longer runs, in a state of the project that the user has not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostHook {
    /// The full name.
    pub name: String,
    /// The root of the project that it belongs to.
    pub project: PathBuf,
    /// The layer.
    pub layer: Layer,
    /// The content that was last trusted under its name.
    pub trusted: Trusted,
    /// The reason why it does not run.
    pub loss: Loss,
    /// True if the configuration sets it to fail closed; then the user is asked before anything runs without it.
    pub fail_closed: bool,
}

/// The reason why a trusted hook no longer runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// No hook has its name.
    Gone,
    /// The name ends in `.disable`.
    Disabled {
        /// The file or directory.
        path: PathBuf,
    },
    /// A `hooks.toml` of the project disables it.
    SwitchedOff {
        /// The path of the `hooks.toml`.
        by: PathBuf,
    },
    /// The file is not executable.
    NotExecutable {
        /// The file or directory.
        path: PathBuf,
    },
    /// The script is missing.
    NoScript {
        /// The directory.
        path: PathBuf,
    },
}

impl LostHook {
    /// Returns why it does not run, as a sentence without its subject.
    pub fn why(&self) -> String {
        match &self.loss {
            Loss::Gone => format!("is gone; it was {}", self.trusted.path),
            Loss::Disabled { path } => format!("is disabled: {}", path.display()),
            Loss::SwitchedOff { by } => format!("is disabled by {}", by.display()),
            Loss::NotExecutable { path } => format!("is not executable: {}", path.display()),
            Loss::NoScript { path } => format!("has lost its script: {}", path.display()),
        }
    }
}

impl From<&Untrusted> for TrustEntry {
    /// Returns the trust entry of the hook's current content. The events of an executable are unknown, because it was not queried;
    /// once it is trusted and loaded, the entry made from its [`Hook`](crate::hook::Hook) has them.
    fn from(hook: &Untrusted) -> Self {
        Self {
            events: spellings(&hook.subscriptions),
            displaces: hook.displaces.is_some(),
            covered: Some(hook.covered.clone()),
            ..Self::new(&hook.name, hook.fingerprint.clone(), &hook.path)
        }
    }
}
