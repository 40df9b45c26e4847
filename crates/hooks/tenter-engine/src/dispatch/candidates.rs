//! The hooks that may run at an event, by the tool of the event: an agent has few tools and calls them often,
//! while thousands of hooks may apply to others. What a matcher looks for in a tool's input is never kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tenter_protocol::executable::Subscription;
use tenter_protocol::{EventName, EventRef, ToolCall};

use crate::catalog::Catalog;
use crate::facts::LazyFacts;
use crate::hook::Hook;
use crate::layer::Layer;
use crate::matcher::{Literals, MatcherError, PatternFilter, RuleMatch, tool_key};

/// Maximum number of tools remembered: a model may call tools that do not exist, under ever new names.
const MAX_TOOLS: usize = 64;

/// A hook that may run at an event.
pub(super) struct EventCandidate {
    pub(super) hook: Arc<Hook>,
    /// The event in the hook's own spelling. A rewrite of `success` does not change the event.
    pub(super) subscription: Subscription,
    /// The name of the tool that the hook's matcher matches, if a matcher applies.
    tool: Option<Result<String, MatcherError>>,
}

/// The name of the tool that a hook reads (R20); none if no matcher applies.
pub(super) type MatchedTool<'c> = Option<&'c str>;

impl EventCandidate {
    /// Returns the candidate for `hook` at `event`, unless the hook does not subscribe to it or its matcher names other tools.
    pub(super) fn new(hook: &Arc<Hook>, event: EventName, call: Option<&ToolCall>) -> Option<Self> {
        let subscription = hook.subscription(event)?;
        let tool = match hook.matcher_at(event).zip(call) {
            Some((matcher, call)) => Some(matcher.tool_name(call).transpose()?),
            None => None,
        };
        let tool = tool.map(|name| name.map(str::to_owned));
        Some(Self { hook: Arc::clone(hook), subscription, tool })
    }

    /// Returns whether only an administrator changes the hook (M1).
    pub(super) fn is_managed(&self) -> bool {
        self.hook.layer == Layer::Managed
    }

    /// Returns the literals without which the hook does not run on a call of the tool, if any are known.
    fn literals(&self) -> Option<&Literals> {
        self.hook.options.matcher.as_ref().filter(|_| matches!(self.tool, Some(Ok(_))))?.literals()
    }

    /// Returns whether the hook runs on a call of the tool that the candidate was made for: `None` if its matcher finds nothing in
    /// the input, an error if the search was given up.
    pub(super) fn select(
        &self,
        call: Option<&ToolCall>,
    ) -> Option<Result<MatchedTool<'_>, MatcherError>> {
        let Some(tool) = &self.tool else { return Some(Ok(None)) };
        let name = match tool {
            Ok(name) => name,
            Err(error) => return Some(Err(error.clone())),
        };
        match self
            .hook
            .options
            .matcher
            .as_ref()
            .zip(call)
            .map(|(matcher, call)| matcher.finds(&call.input))
        {
            Some(Ok(false)) => None,
            Some(Err(error)) => Some(Err(error)),
            Some(Ok(true)) | None => Some(Ok(Some(name))),
        }
    }

    /// Returns whether the hook runs on the call of `event`, its rules included. The facts are made only if the hook has rules. What its
    /// matcher could not search counts as a match, unless the hook can only allow or change.
    pub(super) fn select_by_rules<'c>(
        &'c self,
        event: EventRef<'c>,
        facts: &LazyFacts,
    ) -> Option<Result<Selected<'c>, MatcherError>> {
        let call = event.body.tool_call();
        let (tool, not_searched) = match self.select(call)? {
            Ok(tool) => (tool, None),
            Err(error) if self.hook.may_deny() => (self.tool_name(call), Some(error)),
            Err(error) => return Some(Err(error)),
        };
        let rules = self.hook.rules_at(self.subscription.event).filter(|_| call.is_some());
        let rule = match rules {
            Some(rules) => Some(rules.select(facts.for_hook(event, self.hook.outer.as_deref()))?),
            None => None,
        };
        Some(Ok(Selected { tool, rule, search_error: not_searched }))
    }

    /// Returns the name of the tool that the hook reads: its own if the matcher's was not found.
    pub(super) fn tool_name<'c>(&'c self, call: Option<&'c ToolCall>) -> MatchedTool<'c> {
        match &self.tool {
            Some(Ok(name)) => Some(name),
            Some(Err(_)) => call.map(|call| call.name.as_str()),
            None => None,
        }
    }
}

/// A hook that is selected for a call.
pub(super) struct Selected<'c> {
    pub(super) tool: MatchedTool<'c>,
    /// The rule that the call fits, if the hook has rules.
    pub(super) rule: Option<RuleMatch>,
    /// The reason why its matcher could not be searched to the end, if it counts as a match.
    pub(super) search_error: Option<MatcherError>,
}

impl Selected<'_> {
    /// Returns a warning for the report of the run.
    pub(super) fn warning(&self) -> Option<String> {
        let error = self.search_error.as_ref()?;
        Some(format!("{error}; it runs as if the call matched"))
    }
}

/// Number of hooks from which on one search for all of their literals takes less time than one for each.
const MIN_FILTERED: usize = 8;

/// The hooks that may run at an event, each list in the order in which they run.
#[derive(Default)]
pub(super) struct Candidates {
    /// Those that the agent waits for.
    pub(super) awaited_hooks: Vec<EventCandidate>,
    /// The asynchronous ones, which start after the others (R22).
    pub(super) background: Vec<EventCandidate>,
    /// Rules out awaited hooks whose patterns cannot match.
    filter: OnceLock<Option<PatternFilter>>,
}

impl FromIterator<EventCandidate> for Candidates {
    fn from_iter<I: IntoIterator<Item = EventCandidate>>(candidates: I) -> Self {
        let (background, awaited_hooks) =
            candidates.into_iter().partition(|candidate| candidate.hook.policy.asynchronous);
        Self { awaited_hooks, background, filter: OnceLock::new() }
    }
}

impl Candidates {
    /// Returns, for each awaited hook, whether its pattern may match the call; `None` if each has to be tried.
    pub(super) fn possible(&self, call: Option<&ToolCall>) -> Option<Vec<bool>> {
        let call = call.filter(|_| self.awaited_hooks.len() >= MIN_FILTERED)?;
        let filter = || PatternFilter::new(self.awaited_hooks.iter().map(EventCandidate::literals));
        Some(self.filter.get_or_init(filter).as_ref()?.possible(&call.input))
    }
}

/// The candidates found so far, by kind of call and event.
#[derive(Default)]
pub(super) struct CandidateCache(Mutex<HashMap<String, HashMap<EventName, Arc<Candidates>>>>);

impl CandidateCache {
    /// Returns the hooks of `catalog` that may run at the event; `call` is its tool call, if it has one.
    pub(super) fn get(
        &self,
        catalog: &Catalog,
        event: EventName,
        call: Option<&ToolCall>,
    ) -> Arc<Candidates> {
        let tool = call.map_or_else(String::new, tool_key);
        let mut tools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(candidates) = tools.get(&tool).and_then(|events| events.get(&event)) {
            return Arc::clone(candidates);
        }
        if tools.len() >= MAX_TOOLS {
            tools.clear();
        }
        let hooks = catalog.hooks_for(event).iter();
        let candidates = hooks.filter_map(|hook| EventCandidate::new(hook, event, call));
        let candidates = Arc::new(candidates.collect::<Candidates>());
        tools.entry(tool).or_default().insert(event, Arc::clone(&candidates));
        candidates
    }
}
