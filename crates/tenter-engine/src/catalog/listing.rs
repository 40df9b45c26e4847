//! What became of everything that was found, for listings and for the question whether to trust it.

use std::path::PathBuf;

use tenter_protocol::executable::Subscription;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, ToolCall};

use crate::hook::{FailMode, Fingerprint, Layer};
use crate::matcher::Matcher;
use crate::trust::{Covered, TrustEntry, Trusted, spellings};

/// Something that was found in a hooks directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHook {
    /// The full name.
    pub name: String,
    /// Where it came from.
    pub layer: Layer,
    /// The entry in the directory.
    pub path: PathBuf,
    /// What became of it.
    pub status: Status,
    /// The events that it wants; none where it could not be asked.
    pub subscriptions: Vec<Subscription>,
    /// What its trust covers, or would.
    pub covered: Covered,
    /// The fingerprint of that, where it was taken.
    pub fingerprint: Option<Fingerprint>,
}

/// What became of something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It runs.
    Active,
    /// A hook of the same full name with higher precedence runs in its place (R9).
    Shadowed {
        /// That hook's file.
        by: PathBuf,
    },
    /// Its name ends in `.disable` (R10).
    Disabled,
    /// It is a project's, and not trusted as it is (R45).
    NotTrusted {
        /// Whether something else was trusted under its name.
        changed: bool,
    },
    /// It is a project's, was trusted before the user had a hook of their own by its name, and would shadow that hook. The
    /// user's own hook runs.
    WouldDisplace {
        /// The user's own hook.
        own: PathBuf,
    },
    /// It is a file that may not be executed, or a manifest hook whose script may not.
    NotExecutable,
    /// It is a valid manifest hook with no script: it fires nothing (R15).
    NoScript,
    /// A `hooks.toml` switches it off (R18).
    SwitchedOff {
        /// That file.
        by: PathBuf,
    },
    /// It cannot run.
    Invalid {
        /// Why, as the end of a sentence that begins with the hook's name.
        why: String,
    },
}

/// A project hook that would run if it were trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untrusted {
    /// The full name.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// Where it came from.
    pub layer: Layer,
    /// The events that it wants, where its manifest says so: an executable is never asked before it is trusted (R11).
    pub subscriptions: Vec<Subscription>,
    /// What its trust would cover.
    pub covered: Covered,
    /// The fingerprint of that.
    pub fingerprint: Fingerprint,
    /// What was last trusted under its name.
    pub previous: Option<Trusted>,
    /// The withheld variables that its manifest asks for (R40).
    pub env: Vec<String>,
    /// The user hook of the same name, which it would shadow (R9).
    pub displaces: Option<PathBuf>,
}

/// A hook that was found and cannot run (R61).
#[derive(Debug, Clone)]
pub struct Missing {
    /// The full name.
    pub name: String,
    /// Where it came from.
    pub layer: Layer,
    /// Why it cannot run, as the end of a sentence that begins with its name.
    pub why: String,
    /// What that means (R42). An asynchronous hook keeps nothing from happening.
    pub fail: FailMode,
    /// The events that it is about; `None` where that is not known.
    pub events: Option<Vec<EventName>>,
    /// Which tool calls it is about; all of them, without a matcher.
    pub matcher: Option<Matcher>,
}

impl Missing {
    /// Whether it stops an event, about `call` if it is a tool event: the hook is set to fail closed and subscribes to the event,
    /// or its events are unknown.
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

/// A project hook that was trusted and does not run any more, in a state of the project that the user has not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostHook {
    /// The full name.
    pub name: String,
    /// Where it came from.
    pub layer: Layer,
    /// What was last trusted under its name.
    pub trusted: Trusted,
    /// Why it does not run.
    pub loss: Loss,
    /// Whether the configuration sets it to fail closed: then the user is asked before anything runs without it.
    pub fail_closed: bool,
}

/// Why a trusted hook does not run any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// There is no hook of its name.
    Gone,
    /// Its name ends in `.disable`.
    Disabled {
        /// The file or directory.
        path: PathBuf,
    },
    /// A `hooks.toml` of the project disables it.
    SwitchedOff {
        /// That file.
        by: PathBuf,
    },
    /// It is not executable.
    NotExecutable {
        /// The file or directory.
        path: PathBuf,
    },
    /// Its script is missing.
    NoScript {
        /// The directory.
        path: PathBuf,
    },
}

impl LostHook {
    /// Why it does not run, as a sentence without its subject.
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
    /// The hook as it is now. An executable's events are not known, since it was never asked; once it is trusted and loaded,
    /// they can be recorded with the entry made from its [`Hook`](crate::hook::Hook).
    fn from(hook: &Untrusted) -> Self {
        Self {
            events: spellings(&hook.subscriptions),
            displaces: hook.displaces.is_some(),
            covered: Some(hook.covered.clone()),
            ..Self::new(&hook.name, hook.fingerprint.clone(), &hook.path)
        }
    }
}
