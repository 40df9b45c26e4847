//! The events and tool calls that hooks apply to: kept between processes, they rule out most events without a catalog.
//!
//! They contain every hook that was found, also those that do not run: whether a hook is trusted, or which of two hooks of one name
//! runs, does not change what they apply to. A hook of which too little is known applies to everything.

use serde::{Deserialize, Serialize};
use tenter_protocol::tool_names::{ToolNames, canonical};
use tenter_protocol::{EventName, ToolCall};

use super::Missing;
use super::examine::{Examination, Examined};
use crate::facts::CallFacts;
use crate::hook::HookKind;
use crate::matcher::{self, Matcher, RuleGates};
use crate::trust::CoveredSiblings;

/// The events and tool calls that the hooks of a project and its user apply to, by the usual names of tools.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HookSummaries<'a>(#[serde(borrow)] Vec<HookSummary<'a>>);

/// The events and tool calls that one hook applies to.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct HookSummary<'a> {
    /// The events that it subscribes to; `None` if they are unknown.
    events: Option<Vec<String>>,
    /// Its matcher; `None` matches all tool calls.
    matcher: Option<Matcher>,
    /// The gates of its rules, one of which a tool call must pass; `None` if every call passes.
    #[serde(borrow)]
    gates: Option<RuleGates<'a>>,
}

impl HookSummaries<'static> {
    /// Returns what the hooks that were found apply to.
    pub(super) fn new(examined: &[Examined]) -> Self {
        Self(examined.iter().filter_map(HookSummary::new).collect())
    }

    /// Adds what other hooks apply to.
    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Adds that there may be files that are hooks only because a setting names them.
    pub(super) fn with(mut self, missing: &[Missing]) -> Self {
        if missing.iter().any(|missing| missing.events.is_none()) {
            self.0.push(HookSummary { events: None, matcher: None, gates: None });
        }
        self
    }
}

impl HookSummaries<'_> {
    /// Returns a name for the tool of a call: the same hooks apply to calls with the same one, as far as the tool decides.
    pub fn tool_key(call: &ToolCall) -> String {
        matcher::tool_key(call)
    }

    /// Returns what applies to these events, and to the tool of `call` if they have one.
    #[must_use]
    pub fn narrow(&self, events: &[EventName], call: Option<&ToolCall>) -> HookSummaries<'static> {
        let may_match = |matcher: &Matcher| {
            call.is_none_or(|call| !matches!(matcher.tool_name(call), Ok(None)))
        };
        let summaries = self.0.iter().filter(|summary| summary.may_apply(events, may_match));
        let has_commands = call.is_none_or(may_have_commands);
        HookSummaries(summaries.map(|summary| summary.narrow(has_commands)).collect())
    }

    /// Returns whether a hook may apply to one of these events, with the tool call `call` if they have one. `facts` makes the facts about
    /// that call; without them, each hook applies whose matcher matches, whatever its rules are.
    pub fn include(
        &self,
        events: &[EventName],
        call: Option<&ToolCall>,
        facts: Option<&dyn Fn() -> CallFacts>,
    ) -> bool {
        let matches =
            |matcher: &Matcher| call.is_none_or(|call| !matches!(matcher.matches(call), Ok(None)));
        let mut gated = Vec::new();
        for summary in self.0.iter().filter(|summary| summary.may_apply(events, matches)) {
            match summary.gates.as_ref().zip(facts) {
                Some((gates, facts)) => gated.push((gates, facts)),
                None => return true,
            }
        }
        let Some((_, facts)) = gated.first() else { return false };
        let facts = facts();
        // Any rule may fit a call that was not read to its end.
        facts.facts.call.over_limit || gated.iter().any(|(gates, _)| gates.admit(&facts))
    }
}

/// Returns whether a call of this tool can have commands, which a tool with a known name has only if it is the shell.
fn may_have_commands(call: &ToolCall) -> bool {
    let names = ToolNames::default();
    let standard = names.standard(&call.name);
    standard == "bash" || canonical(standard) != Some(standard)
}

impl HookSummary<'static> {
    fn new(examined: &Examined) -> Option<Self> {
        let Examined { candidate, covered, finding, about, .. } = examined;
        let mut gates = None;
        let (events, matcher) = match finding {
            Examination::Disabled => return None,
            Examination::NotExecutable if !about.is_hook => return None,
            Examination::Ready(ready) if matches!(ready.kind, HookKind::Executable) => {
                let events =
                    ready.subscriptions.iter().map(|subscription| subscription.event).collect();
                // Scripts of the plugin's other hooks may change its reply.
                let is_alone = !matches!(covered.beside, CoveredSiblings::Everything(_));
                (is_alone.then_some(events), None)
            }
            Examination::Ready(ready) => {
                // Another file of a trusted hook may change, and without the hook every call that it matches is denied (R73).
                let is_own = ready.kind.is_static() && !candidate.layer.needs_trust();
                let rules = ready.options.rules.as_ref().filter(|_| is_own);
                gates = rules.map(|rules| rules.gates().clone());
                (about.events.clone(), about.matcher.clone())
            }
            _ => (about.events.clone(), about.matcher.clone()),
        };
        let events = events.map(|mut events| {
            // Without a guard of results, the call itself is denied (R73).
            let guards_calls =
                candidate.layer.needs_trust() && events.contains(&EventName::AfterTool);
            events.extend(guards_calls.then_some(EventName::BeforeTool));
            events.iter().map(|event| event.as_str().to_owned()).collect()
        });
        Some(Self { events, matcher, gates })
    }
}

impl HookSummary<'_> {
    /// Returns whether it may apply to one of these events, given the result of its matcher.
    fn may_apply(&self, events: &[EventName], matches: impl Fn(&Matcher) -> bool) -> bool {
        let Some(own) = &self.events else { return true };
        let mut shared = events.iter().filter(|event| own.iter().any(|own| own == event.as_str()));
        shared.any(|event| match &self.matcher {
            Some(matcher) if event.lifecycle().matcher => matches(matcher),
            _ => true,
        })
    }

    /// Returns the same with each gate once, and without gates of commands if there are none.
    fn narrow(&self, has_commands: bool) -> HookSummary<'static> {
        let gates = self.gates.as_ref().map(|gates| gates.distinct(has_commands));
        HookSummary { events: self.events.clone(), matcher: self.matcher.clone(), gates }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::facts::CallSurroundings;

    #[test]
    fn any_rule_may_apply_to_a_call_that_was_not_read_to_its_end() {
        let events = Some(vec!["before_tool".to_owned()]);
        let summaries = HookSummaries(vec![HookSummary {
            events,
            matcher: None,
            gates: Some(RuleGates::default()),
        }]);
        let call = ToolCall::new("1", "file_read", [("file_path".to_owned(), json!("a"))]);
        let includes = |is_over_limit| {
            let facts = || {
                let mut facts = CallSurroundings::read_example("");
                facts.facts.call.over_limit = is_over_limit;
                facts
            };
            summaries.include(&[EventName::BeforeTool], Some(&call), Some(&facts))
        };
        assert!(includes(true) && !includes(false));
        assert!(summaries.include(&[EventName::BeforeTool], Some(&call), None));
        assert!(!summaries.include(&[EventName::AfterTool], Some(&call), None));
    }
}
