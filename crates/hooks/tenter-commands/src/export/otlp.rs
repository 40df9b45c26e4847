//! Records as logs of OpenTelemetry, in the JSON form of its protocol (`ExportLogsServiceRequest`).

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use tenter_engine::DecisionKind;
use tenter_engine::journal::{Record, RecordKind, Seal};

use super::source::{Content, ExportedLine};

/// The name of this agent in records.
const TENTER: &str = "tenter";
/// The severities of OpenTelemetry: a decision that stopped something is a warning, a failed hook an error.
const INFO: (u8, &str) = (9, "INFO");
const WARN: (u8, &str) = (13, "WARN");
const ERROR: (u8, &str) = (17, "ERROR");

/// The settings of an export, which all its logs share.
pub(super) struct Exporter {
    /// Attributes of the machine and the service.
    pub(super) resource: Vec<(String, String)>,
    /// True if the inputs of tool calls are left out.
    pub(super) omits_inputs: bool,
}

impl Exporter {
    /// Returns the body of a request with these lines, which were read `now`.
    pub(super) fn request(&self, lines: &[ExportedLine], now: Timestamp) -> Vec<u8> {
        let records: Vec<Value> = lines.iter().map(|line| self.log_record(line, now)).collect();
        let mut resource = Attributes::default();
        for (name, value) in &self.resource {
            resource.text(name, Some(value));
        }
        let scope = json!({"name": "tenter.journal", "version": env!("CARGO_PKG_VERSION")});
        let logs = json!({"resourceLogs": [{
            "resource": {"attributes": resource.0},
            "scopeLogs": [{"scope": scope, "logRecords": records}],
        }]});
        logs.to_string().into_bytes()
    }

    fn log_record(&self, line: &ExportedLine, now: Timestamp) -> Value {
        let mut attributes = Attributes::default();
        attributes.text("log.record.uid", Some(&line.id));
        let (time, severity, event, body) = match &line.content {
            Content::Record(record) => {
                self.describe(record, &mut attributes);
                let event = format!("tenter.{}", kind(record));
                (record.time.as_str(), severity(record), event, summary(record))
            }
            Content::Seal(seal) => {
                describe_seal(seal, &mut attributes);
                let body = format!("sealed {} bytes of {}", seal.length, seal.file);
                (seal.time.as_str(), INFO, "tenter.seal".to_owned(), body)
            }
        };
        json!({
            "timeUnixNano": nanoseconds(time.parse().unwrap_or(now)),
            "observedTimeUnixNano": nanoseconds(now),
            "severityNumber": severity.0,
            "severityText": severity.1,
            "eventName": event,
            "body": {"stringValue": body},
            "attributes": attributes.0,
        })
    }

    fn describe(&self, record: &Record, to: &mut Attributes) {
        to.text("gen_ai.conversation.id", Some(&record.conversation_id));
        to.text("gen_ai.tool.name", record.tool_name.as_ref());
        to.text("gen_ai.tool.call.id", record.tool_call_id.as_ref());
        to.text("tenter.kind", Some(kind(record)));
        to.text("tenter.event", Some(&record.event));
        to.text("tenter.host", Some(record.host.as_deref().unwrap_or(TENTER)));
        to.text("tenter.project", record.project.as_ref());
        to.text("tenter.parent_conversation.id", record.parent_conversation_id.as_ref());
        if let Some(input) = record.tool_input.as_ref().filter(|_| !self.omits_inputs) {
            to.text("tenter.tool.input", serde_json::to_string(input).ok());
        }
        match &record.kind {
            RecordKind::Run(run) => {
                to.text("tenter.hook", Some(&run.hook));
                to.text("tenter.layer", Some(run.layer.as_str()));
                to.text("tenter.decision", Some(run.decision.as_str()));
                to.text("tenter.would", run.would.map(DecisionKind::as_str));
                to.text("tenter.rule", run.rule.as_ref().map(|rule| &rule.rule));
                to.text("tenter.reason", run.reason.as_ref());
                to.number("tenter.duration_ms", run.duration.as_millis());
            }
            RecordKind::Decision(decision) => {
                to.text("tenter.hook", decision.by.as_ref());
                to.text("tenter.decision", Some(decision.decision.as_str()));
                to.text("tenter.reason", decision.reason.as_ref());
                to.number("tenter.hooks_run", decision.hooks_run as u64);
            }
            RecordKind::Answer(answer) => {
                to.text("tenter.hook", Some(&answer.hook));
                to.text("tenter.reason", Some(&answer.reason));
                to.text("tenter.answer", Some(&answer.answer));
                to.text("tenter.decision", Some(allowed(answer.allowed)));
            }
            RecordKind::Permission(permission) => {
                to.text("tenter.permission.mode", Some(&permission.mode));
                to.text("tenter.permission.by", Some(&permission.by));
                to.text("tenter.answer", permission.answer.as_ref());
                to.text("tenter.reason", permission.reason.as_ref());
                to.text("tenter.decision", Some(allowed(permission.allowed)));
            }
            RecordKind::Notice(notice) => to.text("tenter.hook", notice.hook.as_ref()),
            RecordKind::Other(_) => {}
        }
    }
}

fn describe_seal(seal: &Seal, to: &mut Attributes) {
    to.text("tenter.kind", Some("seal"));
    to.text("tenter.seal.file", Some(&seal.file));
    to.number("tenter.seal.length", seal.length);
    to.text("tenter.seal.sha256", Some(&seal.sha256));
    to.text("tenter.seal.previous", Some(&seal.previous));
    to.text("tenter.seal.deleted", seal.deleted.as_ref());
}

/// Attributes as the protocol's JSON has them.
#[derive(Default)]
struct Attributes(Vec<Attribute>);

#[derive(Serialize)]
struct Attribute {
    key: String,
    value: Value,
}

impl Attributes {
    fn text(&mut self, key: &str, value: Option<impl AsRef<str>>) {
        let value = value.map(|value| json!({"stringValue": value.as_ref()}));
        self.0.extend(value.map(|value| Attribute { key: key.to_owned(), value }));
    }

    /// Adds a number; the protocol writes 64-bit numbers as text.
    fn number(&mut self, key: &str, value: impl Into<u128>) {
        let value = json!({"intValue": value.into().to_string()});
        self.0.push(Attribute { key: key.to_owned(), value });
    }
}

fn nanoseconds(time: Timestamp) -> String {
    time.as_nanosecond().max(0).to_string()
}

fn kind(record: &Record) -> &'static str {
    match record.kind {
        RecordKind::Run(_) => "run",
        RecordKind::Decision(_) => "decision",
        RecordKind::Answer(_) => "answer",
        RecordKind::Permission(_) => "permission",
        RecordKind::Notice(_) => "notice",
        RecordKind::Other(_) => "other",
    }
}

fn severity(record: &Record) -> (u8, &'static str) {
    match &record.kind {
        RecordKind::Run(run) if run.decision == DecisionKind::Failed => ERROR,
        RecordKind::Run(run) if run.decision == DecisionKind::Deny => WARN,
        RecordKind::Decision(decision) if decision.by_failure => ERROR,
        RecordKind::Decision(decision) if decision.decision == DecisionKind::Deny => WARN,
        RecordKind::Permission(permission) if !permission.allowed => WARN,
        _ => INFO,
    }
}

/// Returns one line of text without the input of a call.
fn summary(record: &Record) -> String {
    let (hook, decision, reason) = match &record.kind {
        RecordKind::Run(run) => (Some(&run.hook), run.decision.as_str(), run.reason.as_ref()),
        RecordKind::Decision(decision) => {
            (decision.by.as_ref(), decision.decision.as_str(), decision.reason.as_ref())
        }
        RecordKind::Answer(answer) => {
            (Some(&answer.hook), answer.answer.as_str(), Some(&answer.reason))
        }
        RecordKind::Permission(permission) => {
            (None, allowed(permission.allowed), permission.reason.as_ref())
        }
        RecordKind::Notice(notice) => return notice.text.clone(),
        RecordKind::Other(_) => return record.event.clone(),
    };
    let hook = hook.map(|hook| format!(" by {hook}")).unwrap_or_default();
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{}: {decision}{hook}{reason}", record.event)
}

fn allowed(is_allowed: bool) -> &'static str {
    if is_allowed { "allow" } else { "deny" }
}
