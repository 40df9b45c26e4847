//! The hooks of one event, run one after another until one denies, and what their replies or failures decide.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Deserialize as _;
use tenter_protocol::confinement::ConfinedFact;
use tenter_protocol::event::StopReason;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::reply::VerdictKind;
use tenter_protocol::{Body, Event, EventName, EventRef, HistoryAction, Reply, Scope, Verdict};

use super::background::BackgroundRun;
use super::candidates::{Candidates, EventCandidate, Selected};
use super::report::{RunReport, report_lost, report_missing};
use super::{Engine, Outcome};
use crate::builtin;
use crate::catalog::{Catalog, Missing};
use crate::facts::LazyFacts;
use crate::failure::RunFailure;
use crate::hook::Hook;
use crate::hook_policy::{FailMode, HookMode};
use crate::observe::{Decision, DecisionKind, DecisionRecord};
use crate::run_context::RunContext;
use crate::runner::{Input, Job};
use crate::settings::{AsynchronousHooks, EngineSettings};
use crate::trust::Changed;

/// The hooks of one event, run in order.
pub(super) struct Chain<'e> {
    engine: &'e Engine,
    event: EventName,
    scope: Arc<Scope>,
    context: RunContext<'e>,
    outcome: Outcome,
    /// The facts about the tool call, as the hooks left it.
    facts: Arc<LazyFacts>,
    hooks_run: usize,
    /// True if a hook that cannot run stopped the event.
    is_stopped: bool,
    /// The fact about a tool call that ran confined, as the tool says it.
    confined: Option<ConfinedFact>,
}

/// A hook run whose reply is not applied yet.
struct Finished<'e> {
    report: RunReport<'e>,
    reply: Result<Reply, RunFailure>,
}

impl<'e> Chain<'e> {
    pub(super) fn new(engine: &'e Engine, event: Event, context: RunContext<'e>) -> Self {
        let name = event.body.name();
        let confined = confined_fact(&event.body);
        let mut outcome = Outcome::new(event.body);
        outcome.tool_names = engine.settings.tool_names.clone();
        Self {
            engine,
            event: name,
            scope: Arc::new(event.scope),
            context,
            outcome,
            facts: Arc::new(LazyFacts::new(&engine.settings.surroundings)),
            hooks_run: 0,
            is_stopped: false,
            confined,
        }
    }

    /// Reports the hooks that cannot run, each once, and stops the event if it must not happen without one of them.
    pub(super) fn check_catalog(&mut self, catalog: &Catalog) {
        let settings = &self.engine.settings;
        if self.event == EventName::SessionStart && self.scope.parent_conversation_id.is_none() {
            catalog.lost().iter().for_each(|hook| report_lost(settings, &self.scope, hook));
        }
        let call = self.outcome.body.tool_call();
        let (stopping, others): (Vec<_>, Vec<_>) =
            catalog.missing().iter().partition(|missing| missing.stops(self.event, call));
        if !self.engine.reported_missing.swap(true, Ordering::Relaxed) {
            for missing in others {
                report_missing(settings, &self.scope, &self.outcome.body, missing);
            }
        }
        if let Some(missing) = stopping.first() {
            self.stop(missing);
        }
    }

    /// Stops the event if hooks rewrote it into one that must not happen without a hook that cannot run.
    pub(super) fn check_rewritten(&mut self, catalog: &Catalog) {
        if self.is_over() || self.is_stopped || self.outcome.rewritten_by.is_empty() {
            return;
        }
        let call = self.outcome.body.tool_call();
        let stops = |missing: &&Missing| missing.stops(self.event, call);
        if let Some(missing) = catalog.missing().iter().find(stops) {
            self.stop(missing);
        }
    }

    /// Denies the event, or withholds the output, because a hook cannot run (R61).
    fn stop(&mut self, missing: &Missing) {
        self.is_stopped = true;
        let why = format!("{} ({})", missing.why, missing.path.display());
        let failure = RunFailure::Missing(why);
        let settings = &self.engine.settings;
        let mut report = RunReport::missing(settings, &self.scope, &self.outcome.body, missing);
        report.not_started();
        report.failed(&failure);
        fail_closed(&missing.name, self.event, &failure, &mut self.outcome);
    }

    fn is_over(&self) -> bool {
        self.outcome.denied().is_some() || self.context.cancel.is_cancelled()
    }

    /// Runs the hooks that the agent waits for, in order.
    pub(super) fn run_awaited(&mut self, candidates: &Candidates) {
        let mut possible = candidates.possible(self.outcome.body.tool_call());
        let mut hooks_run = self.hooks_run;
        for (place, candidate) in candidates.awaited_hooks.iter().enumerate() {
            if self.hooks_run > hooks_run {
                if self.is_over() {
                    return;
                }
                // It may have rewritten the input.
                hooks_run = self.hooks_run;
                possible = candidates.possible(self.outcome.body.tool_call());
            }
            if possible.as_ref().is_none_or(|possible| possible[place]) {
                self.run(candidate);
            }
        }
        self.run_managed_again(candidates);
    }

    /// Runs the managed hooks again if others rewrote the event after them: no rewrite gets past a managed hook (M1).
    fn run_managed_again(&mut self, candidates: &Candidates) {
        let is_managed = |name: &String| {
            let mut managed = candidates.awaited_hooks.iter().filter(|one| one.is_managed());
            managed.any(|one| one.hook.name == *name)
        };
        if self.outcome.rewritten_by.iter().all(is_managed) {
            return;
        }
        for candidate in candidates.awaited_hooks.iter().filter(|one| one.is_managed()) {
            self.run(candidate);
        }
    }

    /// Runs a hook on the event as the hooks before it left it, unless its matcher does not match or the chain is over.
    fn run(&mut self, candidate: &EventCandidate) {
        if self.is_over() {
            return;
        }
        let Some(result) = self.run_hook(candidate) else { return };
        let renewed = if has_changed(&result.reply) { self.renew(&candidate.hook) } else { None };
        let Some(renewed) = renewed else { return self.apply(&candidate.hook, result) };
        result.report.withdraw();
        if let Some(result) = self.candidate(&renewed).and_then(|it| self.run_hook(&it)) {
            self.apply(&renewed, result);
        }
    }

    /// Returns whether a hook runs at this event, as far as that does not depend on the call of a tool.
    fn applies(&self, hook: &Hook, body: &Body) -> bool {
        let event = EventRef { scope: &self.scope, body };
        !self.engine.left_out.contains(&hook.name) && hook.applies(event)
    }

    fn candidate(&self, hook: &Arc<Hook>) -> Option<EventCandidate> {
        EventCandidate::new(hook, self.event, self.outcome.body.tool_call())
    }

    fn run_hook(&self, candidate: &EventCandidate) -> Option<Finished<'e>> {
        let body = &self.outcome.body;
        if !self.applies(&candidate.hook, body) {
            return None;
        }
        let event = EventRef { scope: &self.scope, body };
        let selection = candidate.select_by_rules(event, &self.facts)?;
        let (hook, subscription) = (&*candidate.hook, candidate.subscription);
        let mut report =
            RunReport::begin(&self.engine.settings, hook, subscription, (&self.scope, body));
        let warning = selection.as_ref().ok().and_then(Selected::warning);
        let (tool_name, rule) = match selection {
            Ok(Selected { tool, rule, .. }) => (Ok(tool), rule),
            Err(error) => (Err(error), None),
        };
        report.fits(rule.as_ref());
        if let Some(warning) = warning {
            report.warn(warning);
        }
        let decided = rule.as_ref().and_then(|rule| rule.reply.as_ref());
        let job = tool_name.map(|tool_name| {
            let input = Input::Event { tool_name };
            Job { hook, subscription, event, input, facts: &self.facts, decision: decided }
        });
        let reply = report.execute(job, self.context);
        Some(Finished { report, reply })
    }

    fn apply(&mut self, hook: &Hook, result: Finished<'_>) {
        self.hooks_run += 1;
        let Finished { mut report, reply } = result;
        if hook.policy.mode == HookMode::Monitor {
            return report.monitored(reply);
        }
        let rewritten_by = self.outcome.rewritten_by.len();
        apply_reply(
            &self.engine.settings,
            (hook, self.event),
            reply,
            &mut self.outcome,
            &mut report,
        );
        if self.outcome.rewritten_by.len() != rewritten_by {
            self.facts = Arc::new(LazyFacts::new(&self.engine.settings.surroundings));
        }
    }

    /// Returns the hook that replaces one that changed, if it was trusted since and still subscribes to the event.
    fn renew(&self, hook: &Arc<Hook>) -> Option<Arc<Hook>> {
        let renewed = self.engine.current.renew(hook, self.context.cancel)?;
        // A hook that no longer subscribes must not replace the decision of one that does.
        renewed.subscription(self.event).is_some().then_some(renewed)
    }

    /// Runs the built-in hook, unless the chain was cancelled.
    pub(super) fn run_built_in(&mut self) {
        if self.context.cancel.is_cancelled() {
            return;
        }
        let Some(request) = builtin::compact_request(&self.outcome.body) else { return };
        let mut report = RunReport::built_in(&self.engine.settings, &self.scope);
        report.decided(&[DecisionKind::Callback], Some(request.reason), None);
        if let Some(other) = self.outcome.add_built_in_action(builtin::NAME, request.action) {
            report.yielded_to(other);
        }
        self.hooks_run += 1;
    }

    /// Returns whether the event waits for asynchronous hooks.
    fn awaits_background(&self) -> bool {
        self.engine.settings.asynchronous == AsynchronousHooks::Only
    }

    /// Reports the decision, starts these asynchronous hooks and returns the outcome.
    pub(super) fn finish(self, background: &[EventCandidate]) -> Outcome {
        if self.hooks_run > 0 || self.is_stopped || self.confined.is_some() {
            let decision = self.decision();
            self.engine.settings.notify(|observer| observer.decided(&decision));
        }
        if !background.is_empty() && !self.is_over() {
            let body = Arc::new(self.outcome.body.clone());
            for candidate in background {
                self.start_in_background(candidate, &body);
            }
            if self.awaits_background() {
                self.engine.background.wait();
            }
        }
        self.outcome
    }

    fn decision(&self) -> Decision {
        let parts = self.outcome.parts();
        let (kind, by) = parts.first().copied().unzip();
        let verdict = self.outcome.verdict.as_ref();
        let record = DecisionRecord {
            hooks_run: self.hooks_run,
            decision: kind.unwrap_or(DecisionKind::None),
            also: parts.iter().skip(1).map(|(kind, _)| *kind).collect(),
            by: by.map(str::to_owned),
            reason: verdict.and_then(|verdict| verdict.value.reason.clone()),
            by_failure: self.outcome.denied_by_failure,
            overruled: self.outcome.overruled(),
            confined: self.confined.clone(),
        };
        let time = (self.engine.settings.clock)();
        let mut decision = Decision::new(Arc::clone(&self.scope), self.event, time, record);
        decision.tool_call = self.outcome.body.tool_call().cloned();
        decision
    }

    fn start_in_background(&self, candidate: &EventCandidate, body: &Arc<Body>) {
        let has_changed = candidate.hook.verify_unchanged(self.context.cancel).is_err();
        let renewed = if has_changed { self.renew(&candidate.hook) } else { None };
        let replacement = match renewed {
            Some(hook) => match self.candidate(&hook) {
                Some(replacement) => Some(replacement),
                None => return, // its matcher applies to other tools now
            },
            None => None,
        };
        let candidate = replacement.as_ref().unwrap_or(candidate);
        if !self.applies(&candidate.hook, body) {
            return;
        }
        let event = EventRef { scope: &self.scope, body };
        let Some(selection) = candidate.select_by_rules(event, &self.facts) else { return };
        let (tool_name, rule) = match selection {
            Ok(Selected { tool, rule, .. }) => (Ok(tool.map(str::to_owned)), rule),
            Err(error) => (Err(error), None),
        };
        self.engine.background.start(
            &self.engine.settings,
            BackgroundRun {
                hook: Arc::clone(&candidate.hook),
                subscription: candidate.subscription,
                tool_name,
                rule,
                facts: Arc::clone(&self.facts),
                scope: Arc::clone(&self.scope),
                body: Arc::clone(body),
                services: self.context.services.cloned(),
                deadline: self.context.deadline.filter(|_| self.awaits_background()),
            },
        );
    }
}

/// Returns how a tool call was confined that ran.
fn confined_fact(body: &Body) -> Option<ConfinedFact> {
    let Body::AfterTool { result, .. } = body else { return None };
    let fact = result.metadata.as_ref()?.get("confined")?;
    ConfinedFact::deserialize(fact).ok()
}

/// Returns whether a hook did not run because it is not the one that was trusted.
fn has_changed(reply: &Result<Reply, RunFailure>) -> bool {
    matches!(reply, Err(RunFailure::Changed(Changed::Content | Changed::Unreadable(_))))
}

/// Applies a hook's reply to the outcome, or what its failure means.
pub(super) fn apply_reply(
    settings: &EngineSettings,
    (hook, event): (&Hook, EventName),
    reply: Result<Reply, RunFailure>,
    outcome: &mut Outcome,
    report: &mut RunReport<'_>,
) {
    let application =
        reply.and_then(|reply| check_callback(settings, reply, report)).and_then(|reply| {
            let mut reply = reply;
            if let Some(why) = settings.confine.resolve(&mut reply) {
                report.warn(why);
            }
            let parts = DecisionKind::all_of(&reply);
            let verdict = reply.verdict.clone();
            let change = outcome.apply(&hook.name, reply).map_err(RunFailure::Rewrite)?;
            Ok((parts, verdict, change))
        });
    let (mut parts, verdict, change) = match application {
        Ok(application) => application,
        Err(failure) => {
            report.failed(&failure);
            return deny_for(hook, event, &failure, outcome);
        }
    };
    if change.is_none() {
        // A rewrite that changes nothing does not count (R65).
        parts.retain(|part| *part != DecisionKind::Rewrite);
    }
    // An executable has no word for allow: its `blocked: false` is no objection, and settles no question of the user's.
    let allows = verdict.as_ref().is_some_and(|verdict| verdict.kind == VerdictKind::Allow);
    if allows && !hook.is_executable() {
        outcome.allowed_by = Some(hook.name.clone());
    }
    report.decided(&parts, verdict.and_then(|verdict| verdict.reason), change);
    if is_at_turn_limit(&outcome.body) && parts.contains(&DecisionKind::Continue) {
        report.cannot_continue();
    }
}

/// Fails if the reply calls a recipe back that cannot start. If the reply denies, the callback is dropped instead (R66).
fn check_callback(
    settings: &EngineSettings,
    mut reply: Reply,
    report: &mut RunReport<'_>,
) -> Result<Reply, RunFailure> {
    let (Some(check), Some(HistoryAction::Callback { recipe, args })) =
        (&settings.callbacks, &reply.history)
    else {
        return Ok(reply);
    };
    match check(recipe, args) {
        Ok(()) => {}
        Err(why) if reply.verdict.as_ref().is_some_and(Verdict::is_deny) => {
            report.warn(RunFailure::Callback(why).to_string());
            reply.history = None;
        }
        Err(why) => return Err(RunFailure::Callback(why)),
    }
    Ok(reply)
}

/// Applies the failure of a hook that fails closed: a deny if the event can be denied, else the tool's output is withheld (R42).
fn fail_closed(hook: &str, event: EventName, failure: &RunFailure, outcome: &mut Outcome) {
    if event.is_deniable() {
        outcome.deny_for_failure(hook, &failure.to_string());
    } else {
        outcome.withhold_for_failure(hook, &failure.to_string());
    }
}

/// Applies the failure of a hook that ran, or that is no longer the one that was trusted (R75).
fn deny_for(hook: &Hook, event: EventName, failure: &RunFailure, outcome: &mut Outcome) {
    let (name, is_closed) = (&hook.name, hook.policy.fail == FailMode::Closed);
    // Keeping the agent from stopping fixes nothing: the user has to look at what changed.
    let denies = if is_closed { event.is_deniable() } else { event.may(Power::Block) };
    match (failure.denies_always(), denies) {
        (true, true) => outcome.deny_for_change(name, &failure.to_string()),
        (true, false) => outcome.withhold_for_change(name, &failure.to_string()),
        (false, _) if is_closed => fail_closed(name, event, failure, outcome),
        (false, _) => {}
    }
}

/// Returns whether the agent stops whatever the hooks reply (R35).
fn is_at_turn_limit(body: &Body) -> bool {
    matches!(body, Body::BeforeStop(stop) if stop.reason == StopReason::TurnLimit)
}
