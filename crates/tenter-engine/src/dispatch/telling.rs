//! Tells the observers: every run of a hook, whatever came of it, and what the hooks of an event decided together.

use std::time::Duration;

use tenter_protocol::{Event, EventName, Scope};

use super::Outcome;
use crate::hook::Hook;
use crate::observe::{Change, Decision, DecisionKind, HookRun};
use crate::runner::{Failure, Report};
use crate::settings::EngineSettings;

/// A hook run that is told to the observers when it goes out of scope, however that happens.
pub(super) struct Told<'e> {
    settings: &'e EngineSettings,
    run: HookRun,
}

impl<'e> Told<'e> {
    pub(super) fn begin(settings: &'e EngineSettings, hook: &Hook, event: &Event) -> Option<Self> {
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
            started: (settings.clock)(),
            duration: Duration::ZERO,
            exit: "unknown".to_owned(),
            decision: DecisionKind::Failed,
            reason: Some("the run ended unexpectedly".to_owned()),
            change: None,
            stderr_tail: String::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            asynchronous: hook.policy.asynchronous,
        };
        Some(Self { settings, run })
    }

    pub(super) fn ran(&mut self, report: &Report) {
        self.run.duration = report.duration;
        self.run.exit.clone_from(&report.exit);
        self.run.stderr_tail = report.stderr_tail();
        self.run.warnings.clone_from(&report.warnings);
        self.run.notes.clone_from(&report.notes);
    }

    pub(super) fn answered(
        &mut self,
        decision: DecisionKind,
        reason: Option<String>,
        change: Option<Change>,
    ) {
        self.run.decision = decision;
        self.run.reason = reason;
        self.run.change = change;
    }

    /// A decision that came too late to count.
    pub(super) fn answered_in_vain(&mut self, decision: DecisionKind) {
        self.answered(DecisionKind::None, None, None);
        if decision > DecisionKind::Allow {
            self.run.notes.push(format!(
                "its answer ({}) counts for nothing: it is asynchronous",
                decision.as_str()
            ));
        }
    }

    pub(super) fn failed(&mut self, failure: &Failure) {
        self.run.decision = DecisionKind::Failed;
        self.run.reason = Some(failure.to_string());
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        for observer in &self.settings.observers {
            observer.hook_ran(&self.run);
        }
    }
}

pub(super) fn tell_decision(
    settings: &EngineSettings,
    scope: &Scope,
    event: EventName,
    hooks_run: usize,
    outcome: &Outcome,
) {
    let (kind, by) = outcome.weightiest();
    let decision = Decision {
        scope: scope.clone(),
        event,
        tool_call_id: outcome.body.tool_call().map(|call| call.id.clone()),
        time: (settings.clock)(),
        hooks_run,
        kind,
        by,
        reason: outcome.verdict.as_ref().and_then(|verdict| verdict.value.reason.clone()),
        by_failure: outcome.denied_by_failure,
        overruled: outcome.overruled.clone(),
    };
    for observer in &settings.observers {
        observer.decided(&decision);
    }
}
