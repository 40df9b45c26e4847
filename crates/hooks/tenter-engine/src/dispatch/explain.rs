//! Explains which hooks would run at an event, by the selection that dispatches it. No hook is started.

use std::path::Path;
use std::sync::Arc;

use tenter_protocol::{EventName, ToolCall};

use super::candidates::EventCandidate;
use crate::builtin;
use crate::catalog::{Catalog, Missing};
use crate::facts::HookFacts;
use crate::hook::Hook;
use crate::matcher::{Explanation, MatcherError, RuleExplanation};

/// A hook that was considered for an event.
#[derive(Debug)]
#[non_exhaustive]
pub struct ConsideredHook<'c> {
    /// The hook.
    pub subject: SelectionSubject<'c>,
    /// True if it runs.
    pub selection: Selection,
    /// The result of each part of its matcher for the tool call; none if no matcher applies.
    pub explanation: Option<Explanation>,
    /// The reason why each of its rules fits the call or does not; empty if it has none.
    pub rules: Vec<RuleExplanation>,
}

/// A hook that may run at an event, or stop it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SelectionSubject<'c> {
    /// An active hook.
    Hook(&'c Arc<Hook>),
    /// The built-in hook.
    BuiltIn,
    /// A hook that cannot run.
    Missing(&'c Missing),
}

/// The result of selecting a hook at an event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selection {
    /// It cannot run and is set to fail closed, so it stops the event (R61).
    Stops,
    /// It runs.
    Runs {
        /// The name of the tool that the matcher matched (R20); none if no matcher applies.
        tool_name: Option<String>,
    },
    /// A search of its matcher was aborted. A hook that may deny runs then; for any other it is a run that failed (R42).
    Undecided(MatcherError),
    /// Its matcher does not match the call.
    NotMatched,
    /// It does not subscribe to the event.
    NotSubscribed,
}

impl Selection {
    /// Returns whether the hook acts: it runs, fails or stops the event.
    pub fn is_selected(&self) -> bool {
        !matches!(self, Self::NotMatched | Self::NotSubscribed)
    }
}

impl<'c> SelectionSubject<'c> {
    /// Returns the file or directory of the hook; `None` for a native and the built-in one.
    pub fn path(&self) -> Option<&'c Path> {
        match *self {
            Self::Hook(hook) => hook.path(),
            Self::Missing(missing) => Some(&missing.path),
            Self::BuiltIn => None,
        }
    }

    fn is_asynchronous(&self) -> bool {
        matches!(self, Self::Hook(hook) if hook.policy.asynchronous)
    }
}

impl Catalog {
    /// Returns what [`Engine::dispatch`](crate::Engine::dispatch) would do with each hook: first those that stop the event, then those
    /// that run in the order in which they start, then the others. Hooks that are not active are left out, unless they stop
    /// the event; so is the built-in hook, unless it looks at the event.
    ///
    /// `events` share one spelling; each hook is considered for the first that it subscribes to. `call` is the tool
    /// call, if the events have one, with its `facts`.
    pub fn explain(
        &self,
        events: &[EventName],
        call: Option<(&ToolCall, &HookFacts)>,
    ) -> Vec<ConsideredHook<'_>> {
        let tool_call = call.map(|(call, _)| call);
        let stops =
            |missing: &&Missing| events.iter().any(|event| missing.stops(*event, tool_call));
        let stopping = self.missing().iter().filter(stops).map(ConsideredHook::stopping);
        let hooks = self.hooks().iter().map(|hook| ConsideredHook::new(hook, events, call));
        let (selection, others): (Vec<_>, Vec<_>) =
            hooks.partition(|hook| hook.selection.is_selected());
        let (background, awaited_hooks): (Vec<_>, Vec<_>) =
            selection.into_iter().partition(|hook| hook.subject.is_asynchronous());
        let built_in = events.contains(&builtin::EVENT).then(ConsideredHook::built_in);
        stopping.chain(awaited_hooks).chain(built_in).chain(background).chain(others).collect()
    }
}

impl<'c> ConsideredHook<'c> {
    fn new(
        hook: &'c Arc<Hook>,
        events: &[EventName],
        call: Option<(&ToolCall, &HookFacts)>,
    ) -> Self {
        let event = events.iter().copied().find(|event| hook.subscription(*event).is_some());
        let matcher = event.and_then(|event| hook.matcher_at(event));
        let rules = event.and_then(|event| hook.rules_at(event));
        Self {
            subject: SelectionSubject::Hook(hook),
            selection: event.map_or(Selection::NotSubscribed, |event| select(hook, event, call)),
            explanation: matcher.zip(call).map(|(matcher, (call, _))| matcher.explain(call)),
            rules: rules
                .zip(call)
                .map(|(rules, (_, facts))| rules.explain(facts.for_hook(hook.outer.as_deref())))
                .unwrap_or_default(),
        }
    }

    fn stopping(missing: &'c Missing) -> Self {
        let subject = SelectionSubject::Missing(missing);
        Self { subject, selection: Selection::Stops, explanation: None, rules: Vec::new() }
    }

    fn built_in() -> Self {
        let selection = Selection::Runs { tool_name: None };
        Self { subject: SelectionSubject::BuiltIn, selection, explanation: None, rules: Vec::new() }
    }
}

/// Returns whether a hook that subscribes to `event` runs at it.
fn select(hook: &Arc<Hook>, event: EventName, call: Option<(&ToolCall, &HookFacts)>) -> Selection {
    let (call, facts) = call.unzip();
    let Some(candidate) = EventCandidate::new(hook, event, call) else {
        return Selection::NotMatched;
    };
    let is_about = |facts: &HookFacts| {
        hook.rules_at(event)
            .is_none_or(|rules| rules.select(facts.for_hook(hook.outer.as_deref())).is_some())
    };
    match candidate.select(call) {
        None => Selection::NotMatched,
        Some(Err(error)) if !hook.may_deny() => Selection::Undecided(error),
        Some(_) if !facts.is_none_or(is_about) => Selection::NotMatched,
        Some(tool) => {
            let tool_name = tool.unwrap_or_else(|_| candidate.tool_name(call));
            Selection::Runs { tool_name: tool_name.map(str::to_owned) }
        }
    }
}
