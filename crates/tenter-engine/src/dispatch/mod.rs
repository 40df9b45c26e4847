//! An event's one way: the hooks that subscribe run in order, their replies are folded into one outcome.
//!
//! `fold` is pure and knows no process; `runner` knows no order; this module joins them and tells the observers.

mod fold;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenter_proc::Cancel;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Body, Event, Scope};

use crate::catalog::Catalog;
use crate::clock::Clock;
use crate::environment::Environment;
use crate::hook::{FailMode, Hook};
use crate::observe::{Change, Decision, DecisionKind, HookRun, Observer};
use crate::runner::{self, Failure};

pub use fold::{Attributed, Outcome};

/// What an engine works with, beside its catalog.
pub struct EngineSettings {
    /// The project root: where hooks start.
    pub project: PathBuf,
    /// The environment of hooks, model keys already taken out.
    pub environment: Environment,
    /// The time.
    pub clock: Clock,
    /// Who sees what happens.
    pub observers: Vec<Arc<dyn Observer>>,
}

/// Dispatches events to the hooks of one catalog.
pub struct Engine {
    catalog: Catalog,
    settings: EngineSettings,
}

impl Engine {
    /// An engine over a loaded catalog.
    pub fn new(catalog: Catalog, settings: EngineSettings) -> Self {
        Self { catalog, settings }
    }

    /// The hooks that this engine dispatches to.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Tells the hooks that subscribe to `event`, one after another, each seeing it as those before left it (R24), until
    /// one denies (R23). Without such hooks this costs next to nothing and tells no observer.
    ///
    /// A thrown `cancel` ends the running hook and the chain (R39); the outcome then holds what was decided so far.
    pub fn dispatch(&self, event: Event, cancel: &Cancel) -> Outcome {
        let name = event.body.name();
        let scope = event.scope;
        let mut outcome = Outcome::new(event.body);
        let mut hooks_run = 0;
        for hook in self.catalog.hooks_for(name) {
            if outcome.denied().is_some() || cancel.is_cancelled() {
                break;
            }
            hooks_run += 1;
            self.run_and_fold(hook, &scope, &mut outcome, cancel);
        }
        if hooks_run > 0 {
            self.tell_decision(&scope, name, hooks_run, &outcome);
        }
        outcome
    }

    fn run_and_fold(&self, hook: &Hook, scope: &Scope, outcome: &mut Outcome, cancel: &Cancel) {
        let event = Event { scope: scope.clone(), body: outcome.body.clone() };
        let Some(mut told) = Told::begin(self, hook, &event) else { return };
        let report = runner::run(hook, &event, &self.settings, cancel);
        told.run.duration = report.duration;
        told.run.stderr_tail = report.stderr_tail();
        told.run.exit = report.exit;
        let folded = report.answer.and_then(|reply| {
            let decision = DecisionKind::of(&reply);
            let reason = reply
                .verdict
                .as_ref()
                .and_then(|verdict| verdict.reason.clone())
                .or_else(|| reply.log.clone());
            let change = outcome.apply(&hook.name, reply).map_err(Failure::Rewrite)?;
            Ok((decision, reason, change))
        });
        match folded {
            Ok((decision, reason, change)) => told.answered(decision, reason, change),
            Err(failure) => {
                told.failed(&failure);
                if hook.policy.fail == FailMode::Closed && event.body.name().may(Power::Block) {
                    outcome.deny_for_failure(&hook.name, &failure.to_string());
                }
            }
        }
    }

    fn tell_decision(
        &self,
        scope: &Scope,
        event: tenter_protocol::EventName,
        hooks_run: usize,
        outcome: &Outcome,
    ) {
        let (kind, by) = outcome.weightiest();
        let decision = Decision {
            scope: scope.clone(),
            event,
            tool_call_id: outcome.body.tool_call().map(|call| call.id.clone()),
            time: (self.settings.clock)(),
            hooks_run,
            kind,
            by,
            reason: outcome.verdict.as_ref().and_then(|verdict| verdict.value.reason.clone()),
            by_failure: outcome.denied_by_failure,
            overruled: outcome.overruled.clone(),
        };
        for observer in &self.settings.observers {
            observer.decided(&decision);
        }
    }
}

/// A hook run that is told to the observers when it goes out of scope, however that happens.
struct Told<'e> {
    observers: &'e [Arc<dyn Observer>],
    run: HookRun,
}

impl<'e> Told<'e> {
    fn begin(engine: &'e Engine, hook: &Hook, event: &Event) -> Option<Self> {
        let name = event.body.name();
        let spelling = hook.subscription(name)?.spelling;
        let run = HookRun {
            scope: event.scope.clone(),
            event: name,
            spelling,
            hook: hook.name.clone(),
            layer: hook.layer,
            fingerprint: hook.fingerprint.clone(),
            tool_call_id: event.body.tool_call().map(|call| call.id.clone()),
            started: (engine.settings.clock)(),
            duration: Duration::ZERO,
            exit: "unknown".to_owned(),
            decision: DecisionKind::Failed,
            reason: Some("the run ended unexpectedly".to_owned()),
            change: None,
            stderr_tail: String::new(),
        };
        Some(Self { observers: &engine.settings.observers, run })
    }

    fn answered(&mut self, decision: DecisionKind, reason: Option<String>, change: Option<Change>) {
        self.run.decision = decision;
        self.run.reason = reason;
        self.run.change = change;
    }

    fn failed(&mut self, failure: &Failure) {
        self.run.decision = DecisionKind::Failed;
        self.run.reason = Some(failure.to_string());
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        for observer in self.observers {
            observer.hook_ran(&self.run);
        }
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
