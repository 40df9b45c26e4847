//! An event's one way: the hooks that subscribe run in order, their replies are folded into one outcome.
//!
//! `fold` is pure and knows no process; `runner` knows no order; this module joins them. `by_tool` leaves out at once who is
//! about other tools, `report` makes sure that observers hear of every run, `background` looks after the hooks that nobody
//! waits for, and `late` keeps what they ask for.

mod background;
mod by_tool;
mod fold;
mod late;
mod renewal;
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tenter_proc::Cancel;
use tenter_protocol::event::StopReason;
use tenter_protocol::executable::Subscription;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Body, Event, EventName, HistoryAction, Reply, Scope, Verdict};

use crate::builtin;
use crate::catalog::{Catalog, Missing};
use crate::hook::{FailMode, Hook, Selection};
use crate::observe::{AskAnswer, DecisionKind};
use crate::runner::{self, Aimed, Failure, Occasion};
use crate::settings::EngineSettings;
use crate::trust;
use background::BackgroundHooks;
use renewal::Current;
use report::{RunReport, report_ask_answer, report_decision, report_lost, report_missing};

pub use fold::{Attributed, Outcome};
pub use late::LateReply;
pub use renewal::Reload;

/// Dispatches events to the hooks of one catalog.
pub struct Engine {
    current: Current,
    settings: Arc<EngineSettings>,
    background: BackgroundHooks,
    /// Whether it was recorded which hooks cannot run.
    recorded_missing: AtomicBool,
}

impl Engine {
    /// An engine over a loaded catalog.
    pub fn new(catalog: Catalog, settings: EngineSettings) -> Self {
        Self {
            current: Current::new(catalog),
            settings: Arc::new(settings),
            background: BackgroundHooks::default(),
            recorded_missing: AtomicBool::new(false),
        }
    }

    /// The same engine, which loads a hook again that changed, if it is trusted as it is then (R75).
    #[must_use]
    pub fn reloading(self, reload: Arc<dyn Reload>) -> Self {
        Self { current: self.current.reloading(reload), ..self }
    }

    /// The hooks that this engine dispatches to at present.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.current.get().catalog)
    }

    /// Tells the hooks that subscribe to `event` and whose matchers match, one after another, each seeing it as those before
    /// left it (R24), until one denies (R23). What is built in comes after them, whatever they said, and also where there is
    /// none (R31, R49). Then, if none denied, the asynchronous ones start, and nobody waits for them (R22). Without such
    /// hooks this costs next to nothing and tells no observer.
    ///
    /// A thrown `cancel` ends the running hook and the chain (R39); the outcome then holds what was decided so far.
    pub fn dispatch(&self, event: Event, cancel: &Cancel) -> Outcome {
        let name = event.body.name();
        let loaded = self.current.get();
        if name == EventName::SessionStart && event.scope.parent_conversation_id.is_none() {
            let lost = loaded.catalog.lost().iter();
            lost.for_each(|lost| report_lost(&self.settings, &event.scope, lost));
        }
        let missing = loaded.catalog.missing().iter().find(|missing| missing.stops(&event.body));
        self.record_missing(&loaded.catalog, &event);
        let stopped = missing.map(|missing| self.stop(&event, missing));
        let scope = event.scope;
        let hooks = loaded.by_tool.hooks_for(&loaded.catalog, &event.body);
        let is_stopped = stopped.is_some();
        let mut outcome = stopped.unwrap_or_else(|| Outcome::new(event.body));
        let mut hooks_run = 0;
        for hook in hooks.iter().filter(|hook| !hook.policy.asynchronous) {
            if outcome.denied().is_some() || cancel.is_cancelled() {
                break;
            }
            hooks_run += usize::from(self.run_and_fold(hook, (name, &scope), &mut outcome, cancel));
        }
        if !cancel.is_cancelled() {
            hooks_run += usize::from(self.run_built_in(&scope, &mut outcome));
        }
        if hooks_run > 0 || is_stopped {
            report_decision(&self.settings, &scope, name, hooks_run, &outcome);
        }
        if outcome.denied().is_none() && !cancel.is_cancelled() {
            let event = Event { scope, body: outcome.body.clone() };
            self.start_background(&hooks, name, &event, cancel);
        }
        outcome
    }

    /// Takes what asynchronous hooks of this conversation have asked for since the last time, in the order in which their
    /// answers came: each is given once, so whoever takes it does it or drops it.
    pub fn take_late_replies(&self, conversation_id: &str) -> Vec<LateReply> {
        self.background.late().take(conversation_id)
    }

    /// Waits for the hooks that nobody waited for, at most for `patience`; those that still run then are ended (R22). What
    /// they asked for can be taken afterwards.
    pub fn drain(&self, patience: Duration) {
        self.background.drain(patience);
    }

    /// Tells the observers how a hook's `ask` was answered (R71).
    pub fn ask_answered(&self, answer: &AskAnswer) {
        report_ask_answer(&self.settings, answer);
    }

    /// Records once which hooks were found and cannot run. One that stops this event is recorded with it.
    fn record_missing(&self, catalog: &Catalog, event: &Event) {
        if self.recorded_missing.swap(true, Ordering::Relaxed) {
            return;
        }
        for missing in catalog.missing().iter().filter(|missing| !missing.stops(&event.body)) {
            report_missing(&self.settings, event, missing);
        }
    }

    /// Denies or withholds in the place of a hook that cannot run (R61).
    fn stop(&self, event: &Event, missing: &Missing) -> Outcome {
        let failure = Failure::Missing(missing.why.clone());
        RunReport::missing(&self.settings, event, missing).not_started(&failure);
        let mut outcome = Outcome::new(event.body.clone());
        fail_closed(&missing.name, event.body.name(), &failure, &mut outcome);
        outcome
    }

    /// Asks what is built in; says whether it wants anything.
    fn run_built_in(&self, scope: &Scope, outcome: &mut Outcome) -> bool {
        let Some(request) = builtin::compact_request(&outcome.body) else { return false };
        let mut report = RunReport::built_in(&self.settings, scope);
        report.answered(&[DecisionKind::Callback], Some(request.reason), None);
        if let Some(other) = outcome.act_last(builtin::NAME, request.action) {
            report.gave_way_to(other);
        }
        true
    }

    fn start_background(
        &self,
        hooks: &[Arc<Hook>],
        name: EventName,
        event: &Event,
        cancel: &Cancel,
    ) {
        for hook in hooks.iter().filter(|hook| hook.policy.asynchronous) {
            let has_changed = trust::verify_unchanged(hook, cancel).is_err();
            let renewed = has_changed.then(|| self.renew(hook, name, cancel)).flatten();
            let hook = renewed.as_ref().unwrap_or(hook);
            if let Some(aimed) = aimed(hook, name, &event.body) {
                self.background.start(&self.settings, Arc::clone(hook), event.clone(), aimed);
            }
        }
    }

    /// Runs a hook at the event `name` if it is about what the hooks before it left; says whether it is.
    fn run_and_fold(
        &self,
        hook: &Arc<Hook>,
        (name, scope): (EventName, &Scope),
        outcome: &mut Outcome,
        cancel: &Cancel,
    ) -> bool {
        let event = Event { scope: scope.clone(), body: outcome.body.clone() };
        let Some(run) = self.run(hook, name, &event, cancel) else { return false };
        let has_changed =
            matches!(&run.answer, Err(failure @ Failure::Changed(_)) if failure.denies_always());
        let Some(renewed) = has_changed.then(|| self.renew(hook, name, cancel)).flatten() else {
            self.take_over(hook, name, run, outcome);
            return true;
        };
        run.report.withdraw();
        let Some(run) = self.run(&renewed, name, &event, cancel) else { return false };
        self.take_over(&renewed, name, run, outcome);
        true
    }

    /// Runs a hook if it is about the event.
    fn run(&self, hook: &Hook, name: EventName, event: &Event, cancel: &Cancel) -> Option<Run<'_>> {
        let aimed = aimed(hook, name, &event.body)?;
        let mut report = RunReport::begin(&self.settings, hook, event, aimed.subscription);
        let output = runner::run(hook, Occasion { event, aimed }, &self.settings, cancel);
        let answer = report.ran(output);
        Some(Run { report, answer })
    }

    /// Takes over what a hook answered, or what its failure means.
    fn take_over(&self, hook: &Hook, name: EventName, run: Run<'_>, outcome: &mut Outcome) {
        let Run { mut report, answer } = run;
        let checked = answer.and_then(|reply| callback_checked(&self.settings, reply, &mut report));
        if let Err(failure) = checked.and_then(|reply| fold(hook, reply, outcome, &mut report)) {
            report.failed(&failure);
            deny_for(hook, name, &failure, outcome);
        }
    }

    /// What runs at `event` in the place of a hook that changed, if it was trusted since.
    fn renew(&self, hook: &Arc<Hook>, event: EventName, cancel: &Cancel) -> Option<Arc<Hook>> {
        let renewed = self.current.renew(hook, cancel)?;
        // One that is not about the event any more decides nothing in the place of one that is.
        renewed.subscription(event).is_some().then_some(renewed)
    }
}

/// A hook that was run.
struct Run<'e> {
    report: RunReport<'e>,
    answer: Result<Reply, Failure>,
}

/// Adds a reply to the outcome.
fn fold(
    hook: &Hook,
    reply: Reply,
    outcome: &mut Outcome,
    report: &mut RunReport<'_>,
) -> Result<(), Failure> {
    let mut parts = DecisionKind::all_of(&reply);
    let reason = reply.verdict.as_ref().and_then(|verdict| verdict.reason.clone());
    let change = outcome.apply(&hook.name, reply).map_err(Failure::Rewrite)?;
    if change.is_none() {
        // A rewrite that changes nothing is none (R65).
        parts.retain(|part| *part != DecisionKind::Rewrite);
    }
    report.answered(&parts, reason, change);
    if is_at_turn_limit(&outcome.body) && parts.contains(&DecisionKind::Continue) {
        report.cannot_continue();
    }
    Ok(())
}

/// A reply whose callback, if it has one, can start; that of a deny is left out instead (R66).
fn callback_checked(
    settings: &EngineSettings,
    mut reply: Reply,
    report: &mut RunReport<'_>,
) -> Result<Reply, Failure> {
    let (Some(check), Some(HistoryAction::Callback { recipe, args })) =
        (&settings.callbacks, &reply.history)
    else {
        return Ok(reply);
    };
    match check(recipe, args) {
        Ok(()) => {}
        Err(why) if reply.verdict.as_ref().is_some_and(Verdict::is_deny) => {
            report.warn(Failure::Callback(why).to_string());
            reply.history = None;
        }
        Err(why) => return Err(Failure::Callback(why)),
    }
    Ok(reply)
}

/// What it means that a hook cannot run that is set to fail closed: a deny where something can be kept from happening, and an
/// output that nobody gets to see where one was to be looked at (R42).
fn fail_closed(hook: &str, event: EventName, failure: &Failure, outcome: &mut Outcome) {
    if event.is_deniable() {
        outcome.deny_for_failure(hook, &failure.to_string());
    } else {
        outcome.withhold_for_failure(hook, &failure.to_string());
    }
}

/// What the failure of a hook means that ran, or that cannot be run as it was trusted (R75).
fn deny_for(hook: &Hook, event: EventName, failure: &Failure, outcome: &mut Outcome) {
    let (name, is_closed) = (&hook.name, hook.policy.fail == FailMode::Closed);
    // To keep the agent from stopping mends nothing: what changed is for the user to look at.
    let denies = if is_closed { event.is_deniable() } else { event.may(Power::Block) };
    match (failure.denies_always(), denies) {
        (true, true) => outcome.deny_for_change(name, &failure.to_string()),
        (true, false) => outcome.withhold_for_change(name, &failure.to_string()),
        (false, _) if is_closed => fail_closed(name, event, failure, outcome),
        (false, _) => {}
    }
}

/// Whether the agent stops whatever hooks say (R35).
fn is_at_turn_limit(body: &Body) -> bool {
    matches!(body, Body::BeforeStop(stop) if stop.reason == StopReason::TurnLimit)
}

/// Whether a hook is about what is left of the event `name`.
fn aimed(hook: &Hook, name: EventName, body: &Body) -> Option<Aimed> {
    let found = match hook.select(name, body.tool_call()) {
        Selection::Runs { tool_name } => Ok(tool_name.map(str::to_owned)),
        Selection::Undecided(error) => Err(error),
        // Neither can be: dispatch asks subscribers only, and an event that has matchers has a call. The hook runs, or fails.
        Selection::NotSubscribed => Ok(None),
        Selection::NotMatched if body.tool_call().is_none() => Ok(None),
        Selection::NotMatched => return None,
    };
    let unnamed = Subscription { event: name, spelling: name.as_str() };
    Some(Aimed { subscription: hook.subscription(name).unwrap_or(unnamed), found })
}

/// The body's part that a rewrite at this event replaces, as JSON.
fn subject(body: &Body) -> serde_json::Value {
    match body {
        Body::BeforeAgent { message } => serde_json::Value::String(message.clone()),
        Body::BeforeTool(call) => serde_json::Value::Object(call.input.clone()),
        Body::AfterTool { result, .. } => serde_json::to_value(result).unwrap_or_default(),
        _ => serde_json::Value::Null,
    }
}
