//! Notifies the observers: of every hook run, whatever its end, and of what the hooks of an event decided together.

use std::sync::Arc;

use tenter_proc::CapturedOutput;
use tenter_protocol::executable::Subscription;
use tenter_protocol::{Body, EventName, Reply, Scope};

use super::LateReply;
use crate::builtin;
use crate::catalog::{LostHook, Missing};
use crate::failure::RunFailure;
use crate::hook::Hook;
use crate::layer::Layer;
use crate::matcher::{MatcherError, RuleMatch};
use crate::observe::{DecisionKind, HookRun, RewriteChange, RunRecord};
use crate::run_context::RunContext;
use crate::run_end::RunEnd;
use crate::runner::{self, Job};
use crate::settings::EngineSettings;

/// A hook run that is reported to the observers when it goes out of scope, even if its thread panics.
pub(super) struct RunReport<'e> {
    settings: &'e EngineSettings,
    run: HookRun,
    /// The output of the hook. Its stdout is reported only if the run fails.
    stdout: CapturedOutput,
    stderr: CapturedOutput,
    is_withdrawn: bool,
}

impl<'e> RunReport<'e> {
    /// Returns the report of a run of `hook` on an event.
    pub(super) fn begin(
        settings: &'e EngineSettings,
        hook: &Hook,
        subscription: Subscription,
        (scope, body): (&Arc<Scope>, &Body),
    ) -> Self {
        let mut run = identity(settings, scope, subscription.event, (&hook.name, hook.layer));
        run.tool_call = body.tool_call().cloned();
        subscription.spelling.clone_into(&mut run.spelling);
        run.fingerprint = hook.fingerprint.clone();
        run.end = RunEnd::Unknown;
        run.decision = DecisionKind::Failed;
        run.reason = Some("the run ended unexpectedly".to_owned());
        run.asynchronous = hook.policy.asynchronous;
        Self::new(settings, run)
    }

    /// Returns the report of a run of the built-in hook.
    pub(super) fn built_in(settings: &'e EngineSettings, scope: &Arc<Scope>) -> Self {
        Self::new(
            settings,
            identity(settings, scope, builtin::EVENT, (builtin::NAME, Layer::BuiltIn)),
        )
    }

    /// Returns the report that a hook should have run and cannot.
    pub(super) fn missing(
        settings: &'e EngineSettings,
        scope: &Arc<Scope>,
        body: &Body,
        missing: &Missing,
    ) -> Self {
        Self::new(settings, missing_run(settings, scope, body, missing))
    }

    fn new(settings: &'e EngineSettings, run: HookRun) -> Self {
        let (stdout, stderr) = Default::default();
        Self { settings, run, stdout, stderr, is_withdrawn: false }
    }

    /// Does not report the run: another one is reported instead, or none.
    pub(super) fn withdraw(mut self) {
        self.is_withdrawn = true;
    }

    /// Returns the run as it is reported.
    pub(super) fn run(&self) -> &HookRun {
        &self.run
    }

    /// Takes the stdout and stderr of the hook.
    pub(super) fn take_output(&mut self) -> (CapturedOutput, CapturedOutput) {
        (std::mem::take(&mut self.stdout), std::mem::take(&mut self.stderr))
    }

    /// Runs the hook and returns its reply. A matcher that could not be searched is a run that failed (R42).
    pub(super) fn execute(
        &mut self,
        job: Result<Job<'_>, MatcherError>,
        context: RunContext<'_>,
    ) -> Result<Reply, RunFailure> {
        let job = match job {
            Ok(job) => job,
            Err(error) => {
                self.not_started();
                return Err(error.into());
            }
        };
        self.settings.notify(|observer| observer.hook_started(&self.run));
        let output =
            runner::run(&job, self.settings, context, &mut self.run).unwrap_or_else(|failure| {
                self.run.end = RunEnd::NotStarted;
                Err(failure).into()
            });
        self.settings.notify(|observer| observer.hook_stopped(&self.run));
        (self.stdout, self.stderr) = (output.stdout, output.stderr);
        output.reply
    }

    /// Records that the call fits this rule of the hook.
    pub(super) fn fits(&mut self, rule: Option<&RuleMatch>) {
        self.run.rule = rule.map(|rule| rule.fit.clone());
    }

    /// Records that the reply decided these things, the most important first.
    pub(super) fn decided(
        &mut self,
        decisions: &[DecisionKind],
        reason: Option<String>,
        change: Option<RewriteChange>,
    ) {
        let (decision, also) = decisions.split_first().unwrap_or((&DecisionKind::None, &[]));
        self.run.decision = *decision;
        self.run.also = also.to_vec();
        self.run.reason = reason;
        self.run.change = change;
    }

    /// Records that the reply is not applied: the hook is in monitor mode.
    pub(super) fn monitored(mut self, reply: Result<Reply, RunFailure>) {
        match reply {
            Ok(reply) => {
                self.decided(&[], None, None);
                let decision = DecisionKind::most_important(&reply);
                self.run.would = Some(decision).filter(|decision| *decision != DecisionKind::None);
                self.run.reason = reply.verdict.and_then(|verdict| verdict.reason);
            }
            Err(failure) => self.failed(&failure),
        }
    }

    /// Records that a part of the reply has no effect.
    pub(super) fn warn(&mut self, warning: String) {
        self.run.warnings.push(warning);
    }

    /// Records that an earlier hook's history action counts instead of this one.
    pub(super) fn yielded_to(&mut self, other: &str) {
        self.run.notes.push(format!("it gives way to the hook {other}"));
    }

    /// Records that its follow-ups have no effect, because the turn limit is reached (R35).
    pub(super) fn cannot_continue(&mut self) {
        self.run.notes.push("its follow-ups have no effect: the turn limit is reached".to_owned());
    }

    /// Records that the reply came too late to decide anything: `late` is used at a later turn, `ignored` is not.
    pub(super) fn replied_late(&mut self, late: Option<&LateReply>, ignored_kind: DecisionKind) {
        self.decided(&[], None, None);
        if let Some(late) = late {
            let parts = late.parts();
            self.run.notes.push(format!("late: its reply ({parts}) is used at a later turn"));
        }
        if ignored_kind > DecisionKind::Allow {
            self.run.notes.push(format!(
                "its reply ({}) has no effect: it is asynchronous",
                ignored_kind.as_str()
            ));
        }
    }

    /// Records that another late reply was dropped to make room for the reply of this run.
    pub(super) fn dropped(&mut self, other: &LateReply) {
        self.run.warnings.push(format!(
            "too many late replies are kept for a later turn: the reply of the hook {} at {} is dropped",
            other.hook, other.event
        ));
    }

    /// Records that the hook was not started.
    pub(super) fn not_started(&mut self) {
        self.run.end = RunEnd::NotStarted;
    }

    pub(super) fn failed(&mut self, failure: &RunFailure) {
        self.run.decision = DecisionKind::Failed;
        self.run.reason = Some(failure.to_string());
        self.run.stdout = runner::stdout_excerpt(&self.stdout);
    }
}

impl Drop for RunReport<'_> {
    fn drop(&mut self) {
        if self.is_withdrawn {
            return;
        }
        self.settings.notify(|observer| observer.hook_ran(&self.run));
    }
}

/// Reports a hook that was found and cannot run.
pub(super) fn report_missing(
    settings: &EngineSettings,
    scope: &Arc<Scope>,
    body: &Body,
    missing: &Missing,
) {
    let run = missing_run(settings, scope, body, missing);
    report_not_run(settings, run, RunFailure::Missing(missing.why.clone()).to_string());
}

/// Reports a trusted hook that a session starts without.
pub(super) fn report_lost(settings: &EngineSettings, scope: &Arc<Scope>, hook: &LostHook) {
    let mut run = identity(settings, scope, EventName::SessionStart, (&hook.name, hook.layer));
    run.fingerprint = hook.trusted.hash.clone();
    report_not_run(settings, run, format!("it was trusted and {}", hook.why()));
}

fn report_not_run(settings: &EngineSettings, mut run: HookRun, reason: String) {
    run.end = RunEnd::NotStarted;
    run.decision = DecisionKind::Failed;
    run.reason = Some(reason);
    settings.notify(|observer| observer.hook_missing(&run));
}

fn missing_run(
    settings: &EngineSettings,
    scope: &Arc<Scope>,
    body: &Body,
    missing: &Missing,
) -> HookRun {
    HookRun {
        tool_call: body.tool_call().cloned(),
        ..identity(settings, scope, body.name(), (&missing.name, missing.layer))
    }
}

/// Returns a run of a hook that starts now.
fn identity(
    settings: &EngineSettings,
    scope: &Arc<Scope>,
    event: EventName,
    (hook, layer): (&str, Layer),
) -> HookRun {
    let record = RunRecord::new(hook, layer, event);
    HookRun::new(Arc::clone(scope), event, (settings.clock)(), record)
}
