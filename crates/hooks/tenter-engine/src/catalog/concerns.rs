//! What hooks are about: kept between processes, it rules out most tool calls without a catalog.
//!
//! It contains every hook that was found, also those that do not run: whether a hook is trusted, or which of two hooks of one name
//! runs, does not change what they are about. A hook of which too little is known is about everything.

use serde::{Deserialize, Serialize};
use tenter_protocol::{EventName, ToolCall};

use super::Missing;
use super::examine::{Examination, Examined};
use crate::hook::HookKind;
use crate::matcher::{self, Matcher};
use crate::trust::CoveredSiblings;

/// What the hooks of a project and its user are about, by the usual names of tools.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Concerns(Vec<Concern>);

/// What one hook is about.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Concern {
    /// The events that it subscribes to; `None` if they are unknown.
    events: Option<Vec<String>>,
    /// Its matcher; `None` matches all tool calls.
    matcher: Option<Matcher>,
}

impl Concerns {
    /// Returns what the hooks that were found are about.
    pub(super) fn of(examined: &[Examined]) -> Self {
        Self(examined.iter().filter_map(Concern::of).collect())
    }

    /// Adds what other hooks are about.
    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Adds that there may be files that are hooks only because a setting names them.
    pub(super) fn with(mut self, missing: &[Missing]) -> Self {
        if missing.iter().any(|missing| missing.events.is_none()) {
            self.0.push(Concern { events: None, matcher: None });
        }
        self
    }

    /// A name for the tool of a call: calls with the same one are about the same hooks, as far as the tool decides.
    pub fn tool_key(call: &ToolCall) -> String {
        matcher::tool_key(call)
    }

    /// Returns what hooks are about at these events, without those that are not about the tool of `call`.
    #[must_use]
    pub fn with_tool_of(&self, events: &[EventName], call: &ToolCall) -> Self {
        let is_about = |matcher: &Matcher| !matches!(matcher.tool_name(call), Ok(None));
        let concerned = self.0.iter().filter(|concern| concern.is_about(events, is_about));
        Self(concerned.cloned().collect())
    }

    /// Returns whether a hook may be about a tool call, at one of these events.
    pub fn include(&self, events: &[EventName], call: &ToolCall) -> bool {
        let is_about = |matcher: &Matcher| !matches!(matcher.matches(call), Ok(None));
        self.0.iter().any(|concern| concern.is_about(events, is_about))
    }
}

impl Concern {
    fn of(examined: &Examined) -> Option<Self> {
        let Examined { covered, finding, about, .. } = examined;
        let (events, matcher) = match finding {
            Examination::Disabled => return None,
            Examination::NotExecutable if !about.is_hook => return None,
            Examination::Ready(ready) if matches!(ready.kind, HookKind::Executable) => {
                let events = ready.subscriptions.iter().map(|named| named.event).collect();
                // Scripts of the plugin's other hooks may change its reply.
                let is_alone = !matches!(covered.beside, CoveredSiblings::Everything(_));
                (is_alone.then_some(events), None)
            }
            _ => (about.events.clone(), about.matcher.clone()),
        };
        let spelled =
            |events: Vec<EventName>| events.iter().map(|event| event.as_str().to_owned()).collect();
        Some(Self { events: events.map(spelled), matcher })
    }

    fn is_about(&self, events: &[EventName], matches: impl Fn(&Matcher) -> bool) -> bool {
        let Some(own) = &self.events else { return true };
        let mut shared = events.iter().filter(|event| own.iter().any(|own| own == event.as_str()));
        shared.any(|event| match &self.matcher {
            Some(matcher) if event.lifecycle().matcher => matches(matcher),
            _ => true,
        })
    }
}
