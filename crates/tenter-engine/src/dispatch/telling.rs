//! Tells the observers: every run of a hook, whatever came of it, and what the hooks of an event decided together.

use std::time::Duration;

use tenter_protocol::{Event, EventName, Scope};

use super::{Late, Outcome};
use crate::builtin;
use crate::catalog::Missing;
use crate::hook::{Fingerprint, Hook, Layer};
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
        let run = HookRun {
            spelling: hook.subscription(event.body.name())?.spelling,
            fingerprint: hook.fingerprint.clone(),
            tool_call_id: event.body.tool_call().map(|call| call.id.clone()),
            exit: "unknown".to_owned(),
            decision: DecisionKind::Failed,
            reason: Some("the run ended unexpectedly".to_owned()),
            asynchronous: hook.policy.asynchronous,
            ..blank(settings, &event.scope, event.body.name(), &hook.name, hook.layer)
        };
        Some(Self { settings, run })
    }

    /// A run of what is built in.
    pub(super) fn built_in(settings: &'e EngineSettings, scope: &Scope) -> Self {
        let run = blank(settings, scope, builtin::EVENT, builtin::NAME, Layer::BuiltIn);
        Self { settings, run }
    }

    /// A hook that would have to be run, and cannot be.
    pub(super) fn missing(settings: &'e EngineSettings, event: &Event, missing: &Missing) -> Self {
        let run = HookRun {
            tool_call_id: event.body.tool_call().map(|call| call.id.clone()),
            ..blank(settings, &event.scope, event.body.name(), &missing.name, missing.layer)
        };
        Self { settings, run }
    }

    /// The hook that is run.
    pub(super) fn hook(&self) -> &str {
        &self.run.hook
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

    /// The wish of a hook that came before stands instead of this one.
    pub(super) fn gave_way_to(&mut self, other: &str) {
        self.run.notes.push(format!("it gives way to the hook {other}"));
    }

    /// An answer that came too late to decide anything: what of it is kept, and what is not.
    pub(super) fn answered_late(&mut self, kept: Option<&Late>, in_vain: DecisionKind) {
        self.answered(DecisionKind::None, None, None);
        if let Some(late) = kept {
            let parts = late.parts();
            self.run.notes.push(format!("late: its answer ({parts}) counts at a later turn"));
        }
        if in_vain > DecisionKind::Allow {
            self.run.notes.push(format!(
                "its answer ({}) counts for nothing: it is asynchronous",
                in_vain.as_str()
            ));
        }
    }

    /// A late answer was dropped to make room for that of this run.
    pub(super) fn displaced(&mut self, dropped: &Late) {
        self.run.warnings.push(format!(
            "too many late answers wait for a later turn: that of the hook {} at {} is dropped",
            dropped.hook, dropped.event
        ));
    }

    /// There was no way to run it at all.
    pub(super) fn not_started(&mut self, failure: &Failure) {
        "not started".clone_into(&mut self.run.exit);
        self.failed(failure);
    }

    pub(super) fn failed(&mut self, failure: &Failure) {
        self.run.decision = DecisionKind::Failed;
        self.run.reason = Some(failure.to_string());
    }
}

/// A run of which no more is known than whose it is.
fn blank(
    settings: &EngineSettings,
    scope: &Scope,
    event: EventName,
    hook: &str,
    layer: Layer,
) -> HookRun {
    HookRun {
        scope: scope.clone(),
        event,
        spelling: event.as_str(),
        hook: hook.to_owned(),
        layer,
        fingerprint: Fingerprint(String::new()),
        tool_call_id: None,
        started: (settings.clock)(),
        duration: Duration::ZERO,
        exit: builtin::NO_PROCESS.to_owned(),
        decision: DecisionKind::None,
        reason: None,
        change: None,
        stderr_tail: String::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        asynchronous: false,
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
