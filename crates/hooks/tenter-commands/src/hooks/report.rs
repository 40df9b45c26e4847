//! The result of `tenter hooks test`, for the terminal and as JSON: the payload, the output and what it decides.

use serde::Serialize;
use tenter_base::{sanitize, visible};
use tenter_engine::inspect::{Hook, HookTest, TestRun};
use tenter_engine::{DecisionKind, Transport};
use tenter_protocol::{Object, json};
use tenter_terminal::{BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled, ui};

use super::entry;
use super::interpretation::{Interpretation, UNMATCHED};
use crate::project::Project;

/// The consequence of a failure of a hook that fails open.
const WARN: &str = "warn and continue";

/// The result of one run, with the fields of the JSON form.
#[derive(Default, Serialize)]
pub(super) struct TestReport {
    hook: String,
    event: String,
    payload: Object,
    exit: String,
    duration_ms: u128,
    stdout: String,
    stderr: String,
    /// Parts of the reply without effect, and what the hook logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(flatten)]
    pub(super) interpretation: Interpretation,
    /// The transport of a runtime hook.
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'static str>,
    /// The decision of the one-shot form of a runtime hook, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) one_shot: Option<Interpretation>,
    /// True if the one-shot form of a runtime hook was run, too.
    #[serde(skip)]
    is_compared: bool,
    #[serde(skip)]
    was_run: bool,
    /// The reaction of an agent to the hook's failure.
    #[serde(skip)]
    consequence: &'static str,
}

impl TestReport {
    pub(super) fn new(test: TestRun) -> Self {
        let runtime = test.run.transport.filter(|transport| *transport == Transport::Runtime);
        Self {
            exit: test.run.end.to_string(),
            duration_ms: test.run.duration.as_millis(),
            stdout: test.stdout.text(),
            stderr: test.stderr.text(),
            notes: test.run.warnings.iter().chain(&test.run.notes).cloned().collect(),
            interpretation: Interpretation::new(&test),
            transport: runtime.map(Transport::as_str),
            one_shot: None,
            is_compared: false,
            was_run: true,
            consequence: consequence(&test),
            hook: test.run.record.hook,
            event: test.run.record.spelling,
            payload: test.payload,
        }
    }

    /// Returns the same report, compared with a run of the one-shot form.
    pub(super) fn compare(self, one_shot: &TestRun) -> Self {
        let one_shot = Interpretation::new(one_shot);
        let differs = !one_shot.decides_like(&self.interpretation);
        Self { one_shot: differs.then_some(one_shot), is_compared: true, ..self }
    }

    /// Returns the report of a hook whose matcher applies to other calls.
    pub(super) fn unmatched(hook: &Hook, test: HookTest<'_>) -> Self {
        Self {
            hook: hook.name.clone(),
            event: test.subscription.spelling.to_owned(),
            payload: test.payload.clone(),
            exit: "not run".to_owned(),
            interpretation: Interpretation::unmatched(),
            consequence: WARN,
            ..Self::default()
        }
    }
}

/// Prints it for users.
pub(super) fn print(project: &Project, hook: &Hook, report: &TestReport) {
    ui::out(format!(
        "{} at {} ({})",
        styled(NAME, visible(&report.hook)),
        styled(HEADING, report.event.as_str()),
        visible(&hook.path().map(|path| entry::short(project, path)).unwrap_or_default())
    ));
    match hook.static_action() {
        _ if !report.was_run => written("payload", &json::to_string(&report.payload)),
        Some(action) => {
            written("payload", &json::to_string(&report.payload));
            written("action", action.action());
        }
        None if hook.is_static() => written("payload", &json::to_string(&report.payload)),
        None => process(report),
    }
    decision(report);
    details(&report.interpretation);
    for note in &report.notes {
        detail("note", Some(note));
    }
    forms(report);
    if report.interpretation.error.is_some() {
        ui::out(format!("  an agent would {}", report.consequence));
    }
}

/// Prints how a run ended that failed a test, and what explains it: stderr, notes about the reply, and the error.
pub(super) fn print_run(report: &TestReport) {
    let end = format!("ended {} after {} ms", report.exit, report.duration_ms);
    ui::out(format!("  {}", styled(FAINT, end)));
    if !report.stderr.trim().is_empty() {
        ui::out(format!("  {}", styled(FAINT, "stderr")));
        for line in sanitize(&report.stderr).lines() {
            ui::out(format!("    {line}"));
        }
    }
    for note in &report.notes {
        detail("note", Some(note));
    }
    detail("error", report.interpretation.error.as_deref());
}

/// Returns whether both forms of a runtime hook decide the same.
fn forms(report: &TestReport) {
    match &report.one_shot {
        Some(one_shot) => {
            let why = one_shot.error.as_deref().or(one_shot.reason.as_deref());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let words =
                format!("differ: run once for the event, it decides {}{why}", one_shot.decision);
            ui::out(format!("{} {}", styled(FAINT, "forms"), styled(BAD, sanitize(&words))));
        }
        None if report.is_compared => {
            ui::out(format!("{} {}", styled(FAINT, "forms"), styled(GOOD, "both decide the same")));
        }
        None => {}
    }
}

/// Prints the input, the output and the end of a process.
fn process(report: &TestReport) {
    written("stdin", &json::to_string(&report.payload));
    written("stdout", &report.stdout);
    written("stderr", &report.stderr);
    ui::out(format!("{} {} after {} ms", styled(FAINT, "ended"), report.exit, report.duration_ms));
}

/// Prints the content of a stream, and notes if it was sanitised.
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
        // The notes say which parts of a reply were recorded or ignored.
        "none" if !report.notes.is_empty() => (FAINT, "no action"),
        "none" => (NOTICE, "no action: nothing in its reply has an effect at this event"),
        "allow" => (GOOD, "allow: this hook does not object"),
        "deny" => (BAD, "deny: it is blocked"),
        "failed" => (BAD, "failed"),
        UNMATCHED => (NOTICE, "unmatched: its matcher does not match this call, so it is not run"),
        other => (NOTICE, other),
    };
    ui::out(format!("{} {}", styled(FAINT, "decision"), styled(style, words)));
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
        detail("continues with", Some(text));
    }
    detail("history", interpretation.history.as_ref().map(json::to_string).as_deref());
    detail("error", interpretation.error.as_deref());
}

fn detail(name: &str, text: Option<&str>) {
    if let Some(text) = text {
        ui::out(format!("  {} {}", styled(FAINT, name), sanitize(text)));
    }
}

/// Returns the reaction of an agent to a failed run (R42), as the engine decided it.
fn consequence(test: &TestRun) -> &'static str {
    if test.outcome.denied().is_some() {
        "block: the hook is set to fail closed"
    } else if !test.outcome.rewritten_by.is_empty() {
        "withhold the output: the hook is set to fail closed"
    } else {
        WARN
    }
}
