//! Records as comma-separated values.

use tenter_engine::journal::{Record, RecordKind};
use tenter_inspect::csv;
use tenter_protocol::call_summary;

use super::TENTER;
use super::selection::SessionLine;

/// Returns the first line.
pub(super) fn heading() -> String {
    line([
        "time",
        "agent",
        "project",
        "session",
        "event",
        "tool",
        "call",
        "hook",
        "rule",
        "decision",
        "answer",
        "reason",
        "duration_ms",
    ])
}

/// Returns the record as a line; `None` if it only sums up others.
pub(super) fn record(of: &SessionLine) -> Option<String> {
    let record = &of.line.record;
    let (mut hook, mut rule, mut decision) = (String::new(), String::new(), String::new());
    let (mut answer, mut reason, mut duration) = (String::new(), String::new(), String::new());
    match &record.kind {
        RecordKind::Run(run) => {
            hook.clone_from(&run.hook);
            rule = run.rule.as_ref().map(|rule| rule.rule.clone()).unwrap_or_default();
            run.decision.as_str().clone_into(&mut decision);
            reason = run.reason.clone().unwrap_or_default();
            duration = run.duration.as_millis().to_string();
        }
        RecordKind::Answer(reply) => {
            hook.clone_from(&reply.hook);
            answer.clone_from(&reply.answer);
            reason.clone_from(&reply.reason);
        }
        RecordKind::Permission(permission) => {
            "permission".clone_into(&mut hook);
            (if permission.allowed { "allow" } else { "deny" }).clone_into(&mut decision);
            answer = permission.answer.clone().unwrap_or_default();
            reason = permission.reason.clone().unwrap_or_default();
        }
        RecordKind::Decision(_) | RecordKind::Notice(_) | RecordKind::Other(_) => return None,
    }
    Some(line([
        &record.time,
        record.host.as_deref().unwrap_or(TENTER),
        record.project.as_deref().unwrap_or_default(),
        &of.session,
        &record.event,
        record.tool_name.as_deref().unwrap_or_default(),
        &call(record),
        &hook,
        &rule,
        &decision,
        &answer,
        &reason,
        &duration,
    ]))
}

fn call(record: &Record) -> String {
    let call = record.tool_name.as_ref().zip(record.tool_input.as_ref());
    call.map(|(tool, input)| call_summary(tool, input)).unwrap_or_default()
}

fn line<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    csv::line(cells).trim_end().to_owned()
}
