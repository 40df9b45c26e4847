//! An event's one way: the hooks that subscribe run in order, their replies are folded into one outcome.
//!
//! `fold` is pure and knows no process; `runner` knows no order; this module joins them. `by_tool` leaves out at once who is
//! about other tools, `telling` makes sure that observers hear of every run, `unawaited` looks after the hooks that nobody
//! waits for, and `late` keeps what they ask for.

mod by_tool;
mod fold;
mod late;
mod telling;
mod unawaited;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tenter_proc::Cancel;
use tenter_protocol::event::StopReason;
use tenter_protocol::{Body, Event, EventName, HistoryAction, Reply, Scope, Verdict};

use crate::builtin;
use crate::catalog::{Catalog, Missing};
use crate::hook::{Aim, FailMode, Hook};
use crate::observe::{AskAnswer, DecisionKind};
use crate::runner::{self, Aimed, Failure, Occasion};
use crate::settings::EngineSettings;
use by_tool::ByTool;
use telling::{Told, tell_answer, tell_decision, tell_missing};
use unawaited::Unawaited;

pub use fold::{Attributed, Outcome};
pub use late::Late;

/// Dispatches events to the hooks of one catalog.
pub struct Engine {
    catalog: Catalog,
    settings: Arc<EngineSettings>,
    by_tool: ByTool,
    unawaited: Unawaited,
    /// Whether it was recorded which hooks cannot run.
    recorded_missing: AtomicBool,
}

impl Engine {
    /// An engine over a loaded catalog.
    pub fn new(catalog: Catalog, settings: EngineSettings) -> Self {
        Self {
            catalog,
            settings: Arc::new(settings),
            by_tool: ByTool::default(),
            unawaited: Unawaited::default(),
            recorded_missing: AtomicBool::new(false),
        }
    }

    /// The hooks that this engine dispatches to.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Tells the hooks that subscribe to `event` and whose matchers match, one after another, each seeing it as those before
    /// left it (R24), until one denies (R23). What is built in comes after them, whatever they said, and also where there is
    /// none (R31, R49). Then, if none denied, the asynchronous ones start, and nobody waits for them (R22). Without such
    /// hooks this costs next to nothing and tells no observer.
    ///
    /// A thrown `cancel` ends the running hook and the chain (R39); the outcome then holds what was decided so far.
    pub fn dispatch(&self, event: Event, cancel: &Cancel) -> Outcome {
        let name = event.body.name();
        let missing = self.catalog.missing().iter().find(|missing| missing.stops(&event.body));
        self.record_missing(&event);
        let stopped = missing.map(|missing| self.stop(&event, missing));
        let scope = event.scope;
        let hooks = self.by_tool.hooks_for(&self.catalog, &event.body);
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
            tell_decision(&self.settings, &scope, name, hooks_run, &outcome);
        }
        if outcome.denied().is_none() && !cancel.is_cancelled() {
            self.start_unawaited(&hooks, name, &scope, &outcome.body);
        }
        outcome
    }

    /// Takes what asynchronous hooks of this conversation have asked for since the last time, in the order in which their
    /// answers came: each is given once, so whoever takes it does it or drops it.
    pub fn take_late(&self, conversation_id: &str) -> Vec<Late> {
        self.unawaited.late().take(conversation_id)
    }

    /// Waits for the hooks that nobody waited for, at most for `patience`; those that still run then are ended (R22). What
    /// they asked for can be taken afterwards.
    pub fn drain(&self, patience: Duration) {
        self.unawaited.drain(patience);
    }

    /// Tells the observers how a hook's `ask` was answered (R71).
    pub fn ask_answered(&self, answer: &AskAnswer) {
        tell_answer(&self.settings, answer);
    }

    /// Records once which hooks were found and cannot run. One that stops this event is recorded with it.
    fn record_missing(&self, event: &Event) {
        if self.recorded_missing.swap(true, Ordering::Relaxed) {
            return;
        }
        for missing in self.catalog.missing().iter().filter(|missing| !missing.stops(&event.body)) {
            tell_missing(&self.settings, event, missing);
        }
    }

    /// Denies or withholds in the place of a hook that cannot run (R61).
    fn stop(&self, event: &Event, missing: &Missing) -> Outcome {
        let failure = Failure::Missing(missing.why.clone());
        Told::missing(&self.settings, event, missing).not_started(&failure);
        let mut outcome = Outcome::new(event.body.clone());
        fail_closed(&missing.name, event.body.name(), &failure, &mut outcome);
        outcome
    }

    /// Asks what is built in; says whether it wants anything.
    fn run_built_in(&self, scope: &Scope, outcome: &mut Outcome) -> bool {
        let Some(wish) = builtin::wish(&outcome.body) else { return false };
        let mut told = Told::built_in(&self.settings, scope);
        told.answered(&[DecisionKind::Callback], Some(wish.reason), None);
        if let Some(other) = outcome.act_last(builtin::NAME, wish.action) {
            told.gave_way_to(other);
        }
        true
    }

    fn start_unawaited(&self, hooks: &[Arc<Hook>], name: EventName, scope: &Scope, body: &Body) {
        for hook in hooks.iter().filter(|hook| hook.policy.asynchronous) {
            if let Some(aimed) = aimed(hook, name, body) {
                let event = Event { scope: scope.clone(), body: body.clone() };
                self.unawaited.start(&self.settings, Arc::clone(hook), event, aimed);
            }
        }
    }

    /// Runs a hook at the event `name` if it is about what the hooks before it left; says whether it is.
    fn run_and_fold(
        &self,
        hook: &Hook,
        (name, scope): (EventName, &Scope),
        outcome: &mut Outcome,
        cancel: &Cancel,
    ) -> bool {
        let Some(aimed) = aimed(hook, name, &outcome.body) else { return false };
        let event = Event { scope: scope.clone(), body: outcome.body.clone() };
        let mut told = Told::begin(&self.settings, hook, &event, aimed.subscription);
        let occasion = Occasion { event: &event, aimed };
        let report = runner::run(hook, occasion, &self.settings, cancel);
        let answer = told.ran(report);
        let checked = answer.and_then(|reply| callback_checked(&self.settings, reply, &mut told));
        if let Err(failure) = checked.and_then(|reply| fold(hook, reply, outcome, &mut told)) {
            told.failed(&failure);
            if hook.policy.fail == FailMode::Closed {
                fail_closed(&hook.name, name, &failure, outcome);
            }
        }
        true
    }
}

/// Adds a reply to the outcome.
fn fold(
    hook: &Hook,
    reply: Reply,
    outcome: &mut Outcome,
    told: &mut Told<'_>,
) -> Result<(), Failure> {
    let mut parts = DecisionKind::all_of(&reply);
    let reason = reply.verdict.as_ref().and_then(|verdict| verdict.reason.clone());
    let change = outcome.apply(&hook.name, reply).map_err(Failure::Rewrite)?;
    if change.is_none() {
        // A rewrite that changes nothing is none (R65).
        parts.retain(|part| *part != DecisionKind::Rewrite);
    }
    told.answered(&parts, reason, change);
    if is_at_turn_limit(&outcome.body) && parts.contains(&DecisionKind::Continue) {
        told.cannot_continue();
    }
    Ok(())
}

/// A reply whose callback, if it has one, can start; that of a deny is left out instead (R66).
fn callback_checked(
    settings: &EngineSettings,
    mut reply: Reply,
    told: &mut Told<'_>,
) -> Result<Reply, Failure> {
    let (Some(check), Some(HistoryAction::Callback { recipe, args })) =
        (&settings.callbacks, &reply.history)
    else {
        return Ok(reply);
    };
    match check(recipe, args) {
        Ok(()) => {}
        Err(why) if reply.verdict.as_ref().is_some_and(Verdict::is_deny) => {
            told.warn(Failure::Callback(why).to_string());
            reply.history = None;
        }
        Err(why) => return Err(Failure::Callback(why)),
    }
    Ok(reply)
}

/// What the failure of a hook that is set to fail closed means: a deny where something can be kept from happening, and an
/// output that nobody gets to see where one was to be looked at (R42).
fn fail_closed(hook: &str, event: EventName, failure: &Failure, outcome: &mut Outcome) {
    if event.is_deniable() {
        outcome.deny_for_failure(hook, &failure.to_string());
    } else {
        outcome.withhold_for_failure(hook, &failure.to_string());
    }
}

/// Whether the agent stops whatever hooks say (R35).
fn is_at_turn_limit(body: &Body) -> bool {
    matches!(body, Body::BeforeStop(stop) if stop.reason == StopReason::TurnLimit)
}

/// Whether a hook is about what is left of the event `name`.
fn aimed(hook: &Hook, name: EventName, body: &Body) -> Option<Aimed> {
    let found = match hook.aim(name, body.tool_call()) {
        Aim::Hit { tool_name } => Ok(tool_name.map(str::to_owned)),
        Aim::Unknown(error) => Err(error),
        Aim::Unmatched | Aim::Unsubscribed => return None,
    };
    Some(Aimed { subscription: hook.subscription(name)?, found })
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
