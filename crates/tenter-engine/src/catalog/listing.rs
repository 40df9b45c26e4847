//! What became of everything that was found, for listings and for the question whether to trust it.

use std::path::PathBuf;

use tenter_protocol::executable::Subscription;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Body, EventName};

use crate::hook::{FailMode, Fingerprint, Layer};
use crate::matcher::Matcher;
use crate::trust::{Covered, TrustEntry, Trusted, spellings};

/// Something that was found in a hooks folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The full name.
    pub name: String,
    /// Where it came from.
    pub layer: Layer,
    /// The entry in the folder.
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
    /// The person's own hook of its name, which would not run any more (R9).
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
    /// Whether it may stand in the way of `event`: it is set to fail closed, and is about the event or about nobody knows what.
    pub fn may_stop(&self, event: EventName) -> bool {
        let is_about = match &self.events {
            None => event.may(Power::Block),
            Some(events) => {
                events.contains(&event) && (event.is_deniable() || event.may(Power::RewriteOutput))
            }
        };
        self.fail == FailMode::Closed && is_about
    }

    /// Whether it stands in the way of this.
    pub(crate) fn stops(&self, body: &Body) -> bool {
        let is_about_call = match (&self.matcher, body.tool_call()) {
            (Some(matcher), Some(call)) => !matches!(matcher.matches(call), Ok(None)),
            _ => true,
        };
        self.may_stop(body.name()) && is_about_call
    }
}

impl From<&Untrusted> for TrustEntry {
    /// The hook as it is now. An executable's events are not known, since it was never asked; once it is trusted and loaded,
    /// they can be recorded with the entry made from its [`Hook`](crate::hook::Hook).
    fn from(hook: &Untrusted) -> Self {
        Self {
            name: hook.name.clone(),
            fingerprint: hook.fingerprint.clone(),
            path: hook.path.clone(),
            events: spellings(&hook.subscriptions),
        }
    }
}
