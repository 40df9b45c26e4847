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
use std::time::Duration;

use tenter_proc::Cancel;
use tenter_protocol::event::StopReason;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Body, Event, EventName, Scope};

use crate::builtin;
use crate::catalog::{Catalog, Missing};
use crate::hook::{Aim, FailMode, Hook};
use crate::observe::{AskAnswer, DecisionKind};
use crate::runner::{self, Failure, Found};
use crate::settings::EngineSettings;
use by_tool::ByTool;
use telling::{Told, tell_answer, tell_decision};
use unawaited::Unawaited;

pub use fold::{Attributed, Outcome};
pub use late::Late;

/// Dispatches events to the hooks of one catalog.
pub struct Engine {
    catalog: Catalog,
    settings: Arc<EngineSettings>,
    by_tool: ByTool,
    unawaited: Unawaited,
}

impl Engine {
    /// An engine over a loaded catalog.
    pub fn new(catalog: Catalog, settings: EngineSettings) -> Self {
        Self {
            catalog,
            settings: Arc::new(settings),
            by_tool: ByTool::default(),
            unawaited: Unawaited::default(),
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
        if let Some(missing) = self.missing_at(name) {
            return self.refuse(event, missing);
        }
        let scope = event.scope;
        let hooks = self.by_tool.hooks_for(&self.catalog, &event.body);
        let mut outcome = Outcome::new(event.body);
        let mut hooks_run = 0;
        for hook in hooks.iter().filter(|hook| !hook.policy.asynchronous) {
            if outcome.denied().is_some() || cancel.is_cancelled() {
                break;
            }
            hooks_run += usize::from(self.run_and_fold(hook, &scope, &mut outcome, cancel));
        }
        if !cancel.is_cancelled() {
            hooks_run += usize::from(self.run_built_in(&scope, &mut outcome));
        }
        if hooks_run > 0 {
            tell_decision(&self.settings, &scope, name, hooks_run, &outcome);
        }
        if outcome.denied().is_none() && !cancel.is_cancelled() {
            self.start_unawaited(&hooks, &scope, &outcome.body);
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

    /// A hook without which nothing that can be blocked happens (R42).
    fn missing_at(&self, event: EventName) -> Option<&Missing> {
        self.catalog.missing().first().filter(|_| event.may(Power::Block))
    }

    /// Denies in the place of a hook that cannot run.
    fn refuse(&self, event: Event, missing: &Missing) -> Outcome {
        let failure = Failure::Missing(missing.why.clone());
        Told::missing(&self.settings, &event, missing).not_started(&failure);
        let (scope, name) = (event.scope, event.body.name());
        let mut outcome = Outcome::new(event.body);
        outcome.deny_for_failure(&missing.name, &failure.to_string());
        tell_decision(&self.settings, &scope, name, 0, &outcome);
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

    fn start_unawaited(&self, hooks: &[Arc<Hook>], scope: &Scope, body: &Body) {
        for hook in hooks.iter().filter(|hook| hook.policy.asynchronous) {
            if let Some(found) = matched(hook, body) {
                let event = Event { scope: scope.clone(), body: body.clone() };
                self.unawaited.start(&self.settings, Arc::clone(hook), event, found);
            }
        }
    }

    /// Runs a hook if it is about the event as it is by now; says whether it is.
    fn run_and_fold(
        &self,
        hook: &Hook,
        scope: &Scope,
        outcome: &mut Outcome,
        cancel: &Cancel,
    ) -> bool {
        let Some(found) = matched(hook, &outcome.body) else { return false };
        let event = Event { scope: scope.clone(), body: outcome.body.clone() };
        let Some(mut told) = Told::begin(&self.settings, hook, &event) else { return false };
        let report = runner::run(hook, &event, found, &self.settings, cancel);
        let folded = told.ran(report).and_then(|reply| {
            let decisions = DecisionKind::all_of(&reply);
            let reason = reply.verdict.as_ref().and_then(|verdict| verdict.reason.clone());
            let change = outcome.apply(&hook.name, reply).map_err(Failure::Rewrite)?;
            Ok((decisions, reason, change))
        });
        match folded {
            Ok((decisions, reason, change)) => {
                told.answered(&decisions, reason, change);
                if is_at_turn_limit(&event.body) && decisions.contains(&DecisionKind::Continue) {
                    told.cannot_continue();
                }
            }
            Err(failure) => {
                told.failed(&failure);
                if hook.policy.fail == FailMode::Closed {
                    fail_closed(hook, event.body.name(), &failure, outcome);
                }
            }
        }
        true
    }
}

/// What the failure of a hook that is set to fail closed means: a deny where something can be kept from happening, and an
/// output that nobody gets to see where one was to be looked at (R42).
fn fail_closed(hook: &Hook, event: EventName, failure: &Failure, outcome: &mut Outcome) {
    if is_blocking(event) {
        outcome.deny_for_failure(&hook.name, &failure.to_string());
    } else {
        outcome.withhold_for_failure(&hook.name, &failure.to_string());
    }
}

/// Whether a deny at this event keeps something from happening: a stop counts, which a deny turns into going on (R29).
fn is_blocking(event: EventName) -> bool {
    event.may(Power::Block) || event.may(Power::Continue)
}

/// Whether the agent stops whatever hooks say (R35).
fn is_at_turn_limit(body: &Body) -> bool {
    matches!(body, Body::BeforeStop(stop) if stop.reason == StopReason::TurnLimit)
}

/// What a hook's matcher found in this; none where the hook does not run.
fn matched(hook: &Hook, body: &Body) -> Option<Found> {
    match hook.aim(body.name(), body.tool_call()) {
        Aim::Hit { tool_name } => Some(Ok(tool_name.map(str::to_owned))),
        Aim::Unknown(error) => Some(Err(error)),
        Aim::Unmatched | Aim::Unsubscribed => None,
    }
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
