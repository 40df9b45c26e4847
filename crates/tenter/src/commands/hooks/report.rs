//! What a test of a hook comes to, for people and as JSON: what went in, what came out, and what it means.

use serde::Serialize;
use tenter_engine::hook::{FailMode, Hook};
use tenter_engine::{DecisionKind, TestRun};
use tenter_protocol::executable::Subscription;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Object, json};

use super::entry;
use super::interpretation::{Interpretation, UNMATCHED};
use super::test::SkipReason;
use crate::project::Project;
use crate::sanitize::{sanitize, visible};
use crate::ui::{self, BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled};

/// How it is said in place of an exit that the hook was not run.
const NOT_RUN: &str = "not run";

/// A test as it is shown. The fields are those of the JSON form.
#[derive(Serialize)]
pub(super) struct TestReport<'r> {
    hook: &'r str,
    event: &'static str,
    payload: &'r Object,
    exit: &'r str,
    duration_ms: u128,
    stdout: String,
    stderr: String,
    /// What of its answer was not understood, and what it wanted recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(flatten)]
    pub(super) interpretation: Interpretation,
}

impl<'r> TestReport<'r> {
    pub(super) fn new(
        hook: &'r Hook,
        subscription: Subscription,
        payload: &'r Object,
        trial: &'r TestRun,
    ) -> Self {
        Self {
            hook: &hook.name,
            event: subscription.spelling,
            payload,
            exit: &trial.exit,
            duration_ms: trial.duration.as_millis(),
            stdout: trial.stdout.text(),
            stderr: trial.stderr.text(),
            notes: trial.warnings.iter().chain(&trial.notes).cloned().collect(),
            interpretation: Interpretation::new(payload, trial),
        }
    }

    /// A hook that an agent would not run on this payload.
    pub(super) fn not_run(
        hook: &'r Hook,
        subscription: Subscription,
        payload: &'r Object,
        why: SkipReason,
    ) -> Self {
        Self {
            hook: &hook.name,
            event: subscription.spelling,
            payload,
            exit: NOT_RUN,
            duration_ms: 0,
            stdout: String::new(),
            stderr: String::new(),
            notes: Vec::new(),
            interpretation: match why {
                SkipReason::Unmatched => Interpretation::unmatched(),
                SkipReason::Failed(why) => Interpretation::failed(why),
            },
        }
    }
}

/// Shows it to a person.
pub(super) fn print(project: &Project, hook: &Hook, report: &TestReport) {
    ui::out(format!(
        "{} at {} ({})",
        styled(NAME, visible(report.hook)),
        styled(HEADING, report.event),
        visible(&entry::short(project, &hook.path))
    ));
    match hook.static_action() {
        _ if report.exit == NOT_RUN => written("payload", &json::to_string(report.payload)),
        Some(declared) => {
            written("payload", &json::to_string(report.payload));
            written("action", declared.action());
        }
        None => process(report),
    }
    decision(report);
    details(&report.interpretation);
    for note in &report.notes {
        detail("note", Some(note));
    }
    if report.interpretation.error.is_some() {
        ui::out(format!("  an agent would {}", after_failure(hook, report.event)));
    }
}

/// What a process read and wrote, and how it ended.
fn process(report: &TestReport) {
    written("stdin", &json::to_string(report.payload));
    written("stdout", &report.stdout);
    written("stderr", &report.stderr);
    ui::out(format!("{} {} after {} ms", styled(FAINT, "ended"), report.exit, report.duration_ms));
}

/// What went through a stream, and whether it is shown as it was.
fn written(stream: &str, text: &str) {
    let safe = sanitize(text);
    let mark = if safe == text { "" } else { " (without its control characters)" };
    if text.trim().is_empty() {
        ui::out(format!("{} nothing", styled(FAINT, stream)));
        return;
    }
    ui::out(styled(FAINT, format!("{stream}{mark}")));
    for line in safe.lines() {
        ui::out(format!("  {line}"));
    }
}

fn decision(report: &TestReport) {
    let is_silent = report.stdout.trim().is_empty();
    let (style, words) = match report.interpretation.decision {
        "none" if is_silent => (FAINT, "no action"),
        // What an answer comes to that is recorded or not understood is told in its notes.
        "none" if !report.notes.is_empty() => (FAINT, "no action"),
        "none" => (NOTICE, "no action: nothing in its answer means anything at this event"),
        "allow" => (GOOD, "allow: this hook is fine with it"),
        "deny" => (BAD, "deny: it is blocked"),
        "failed" => (BAD, "failed"),
        UNMATCHED => (NOTICE, "unmatched: its matcher is not about this call, so it is not run"),
        other => (NOTICE, other),
    };
    ui::out(format!("{} {}", styled(FAINT, "understood as"), styled(style, words)));
}

fn details(interpretation: &Interpretation) {
    let no_reason =
        (interpretation.decision == DecisionKind::Deny.as_str()).then_some("no reason given");
    detail("reason", interpretation.reason.as_deref().or(no_reason));
    if let Some(change) = &interpretation.rewrite {
        detail("before", Some(&json::to_string(&change.before)));
        detail("after", Some(&json::to_string(&change.after)));
    }
    detail("context", interpretation.context.as_deref());
    for text in &interpretation.follow_ups {
        detail("goes on with", Some(text));
    }
    detail("history", interpretation.history.as_ref().map(json::to_string).as_deref());
    detail("error", interpretation.error.as_deref());
}

fn detail(name: &str, text: Option<&str>) {
    if let Some(text) = text {
        ui::out(format!("  {} {}", styled(FAINT, name), sanitize(text)));
    }
}

/// What a failure of this hook means (R42).
fn after_failure(hook: &Hook, spelling: &str) -> &'static str {
    let may_block = hook
        .subscriptions
        .iter()
        .filter(|one| one.spelling == spelling)
        .any(|one| one.event.may(Power::Block) || one.event.may(Power::Continue));
    match hook.policy.fail {
        FailMode::Closed if may_block => "block: the hook is set to fail closed",
        _ => "warn and go on",
    }
}
