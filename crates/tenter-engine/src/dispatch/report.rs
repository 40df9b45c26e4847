//! Tells the observers: every run of a hook, whatever came of it, and what the hooks of an event decided together.

use std::time::Duration;

use tenter_proc::Captured;
use tenter_protocol::executable::Subscription;
use tenter_protocol::{Event, EventName, Reply, Scope};

use super::{LateReply, Outcome};
use crate::builtin;
use crate::catalog::{LostHook, Missing};
use crate::hook::{Fingerprint, Hook, Layer};
use crate::observe::{AskAnswer, Change, Decision, DecisionKind, HookRun};
use crate::runner::{self, Failure, Report};
use crate::settings::EngineSettings;

/// A hook run that is told to the observers when it goes out of scope, however that happens.
pub(super) struct RunReport<'e> {
    settings: &'e EngineSettings,
    run: HookRun,
    /// What the hook wrote to stdout; it becomes part of the record only if the run fails.
    stdout: Captured,
    is_withdrawn: bool,
}

impl<'e> RunReport<'e> {
    pub(super) fn begin(
        settings: &'e EngineSettings,
        hook: &Hook,
        event: &Event,
        subscription: Subscription,
    ) -> Self {
        let run = HookRun {
            spelling: subscription.spelling,
            fingerprint: hook.fingerprint.clone(),
            tool_call: event.body.tool_call().cloned(),
            exit: "unknown".to_owned(),
            decision: DecisionKind::Failed,
            reason: Some("the run ended unexpectedly".to_owned()),
            asynchronous: hook.policy.asynchronous,
            ..blank(settings, &event.scope, subscription.event, &hook.name, hook.layer)
        };
        Self { settings, run, stdout: Captured::default(), is_withdrawn: false }
    }

    /// The hook was renewed before it ran, and the run of the renewed one is reported instead.
    pub(super) fn withdraw(mut self) {
        self.is_withdrawn = true;
    }

    /// A run of what is built in.
    pub(super) fn built_in(settings: &'e EngineSettings, scope: &Scope) -> Self {
        let run = blank(settings, scope, builtin::EVENT, builtin::NAME, Layer::BuiltIn);
        Self { settings, run, stdout: Captured::default(), is_withdrawn: false }
    }

    /// A hook that would have to be run, and cannot be.
    pub(super) fn missing(settings: &'e EngineSettings, event: &Event, missing: &Missing) -> Self {
        let run = missing_run(settings, event, missing);
        Self { settings, run, stdout: Captured::default(), is_withdrawn: false }
    }

    /// The hook that is run.
    pub(super) fn hook(&self) -> &str {
        &self.run.hook
    }

    /// The process has ended; returns what it answered.
    pub(super) fn ran(&mut self, report: Report) -> Result<Reply, Failure> {
        self.run.duration = report.duration;
        self.run.stderr_tail = report.stderr_tail();
        self.run.exit = report.exit;
        self.run.warnings = report.warnings;
        self.run.notes = report.notes;
        self.stdout = report.stdout;
        report.answer
    }

    /// The answer decided these things, weightiest first.
    pub(super) fn answered(
        &mut self,
        decisions: &[DecisionKind],
        reason: Option<String>,
        change: Option<Change>,
    ) {
        let (decision, also) = decisions.split_first().unwrap_or((&DecisionKind::None, &[]));
        self.run.decision = *decision;
        self.run.also = also.to_vec();
        self.run.reason = reason;
        self.run.change = change;
    }

    /// A part of the answer that was meant to have an effect and has none.
    pub(super) fn warn(&mut self, warning: String) {
        self.run.warnings.push(warning);
    }

    /// The wish of a hook that came before stands instead of this one.
    pub(super) fn gave_way_to(&mut self, other: &str) {
        self.run.notes.push(format!("it gives way to the hook {other}"));
    }

    /// Its follow-ups have no effect, because the turn limit is reached (R35).
    pub(super) fn cannot_continue(&mut self) {
        self.run.notes.push("its follow-ups have no effect: the turn limit is reached".to_owned());
    }

    /// An answer that came too late to decide anything: what of it is kept, and what is not.
    pub(super) fn answered_late(&mut self, kept: Option<&LateReply>, in_vain: DecisionKind) {
        self.answered(&[], None, None);
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
    pub(super) fn displaced(&mut self, dropped: &LateReply) {
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
        self.run.stdout = runner::quoted(&self.stdout);
    }
}

/// Records that a hook cannot run.
pub(super) fn report_missing(settings: &EngineSettings, event: &Event, missing: &Missing) {
    let run = HookRun {
        exit: "not started".to_owned(),
        decision: DecisionKind::Failed,
        reason: Some(Failure::Missing(missing.why.clone()).to_string()),
        ..missing_run(settings, event, missing)
    };
    for observer in &settings.observers {
        observer.hook_missing(&run);
    }
}

fn missing_run(settings: &EngineSettings, event: &Event, missing: &Missing) -> HookRun {
    HookRun {
        tool_call: event.body.tool_call().cloned(),
        ..blank(settings, &event.scope, event.body.name(), &missing.name, missing.layer)
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
        tool_call: None,
        started: (settings.clock)(),
        duration: Duration::ZERO,
        exit: builtin::NO_PROCESS.to_owned(),
        decision: DecisionKind::None,
        also: Vec::new(),
        reason: None,
        change: None,
        stdout: String::new(),
        stderr_tail: String::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        asynchronous: false,
    }
}

impl Drop for RunReport<'_> {
    fn drop(&mut self) {
        if self.is_withdrawn {
            return;
        }
        for observer in &self.settings.observers {
            observer.hook_ran(&self.run);
        }
    }
}

/// Reports a trusted hook that a session begins without.
pub(super) fn report_lost(settings: &EngineSettings, scope: &Scope, lost: &LostHook) {
    let run = HookRun {
        fingerprint: lost.trusted.hash.clone(),
        exit: "not started".to_owned(),
        decision: DecisionKind::Failed,
        reason: Some(format!("it was trusted and {}", lost.why())),
        ..blank(settings, scope, EventName::SessionStart, &lost.name, lost.layer)
    };
    for observer in &settings.observers {
        observer.hook_missing(&run);
    }
}

pub(super) fn report_decision(
    settings: &EngineSettings,
    scope: &Scope,
    event: EventName,
    hooks_run: usize,
    outcome: &Outcome,
) {
    let parts = outcome.parts();
    let (kind, by) = parts.first().copied().unzip();
    let decision = Decision {
        scope: scope.clone(),
        event,
        tool_call: outcome.body.tool_call().cloned(),
        time: (settings.clock)(),
        hooks_run,
        kind: kind.unwrap_or(DecisionKind::None),
        also: parts.iter().skip(1).map(|(kind, _)| *kind).collect(),
        by: by.map(str::to_owned),
        reason: outcome.verdict.as_ref().and_then(|verdict| verdict.value.reason.clone()),
        by_failure: outcome.denied_by_failure,
        overruled: outcome.overruled(),
    };
    for observer in &settings.observers {
        observer.decided(&decision);
    }
}

pub(super) fn report_ask_answer(settings: &EngineSettings, answer: &AskAnswer) {
    for observer in &settings.observers {
        observer.ask_answered(answer);
    }
}
