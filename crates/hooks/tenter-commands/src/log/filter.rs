//! Filters records by time, decision, agent, tool, hook, event and text.

use jiff::Timestamp;
use serde_json::Value;
use tenter_base::{did_you_mean, rfc3339};
use tenter_bridge::hosts;
use tenter_engine::DecisionKind;
use tenter_engine::journal::{JournalLine, Record, RecordKind};
use tenter_protocol::lifecycle::{self, TABLE};
use tenter_protocol::{EventName, tool_names};

use super::TENTER;
use crate::since::Since;

/// The flags that choose records.
#[derive(Debug, Default, clap::Args)]
pub(super) struct FilterArgs {
    /// Show only records since a time, a date (UTC), or an age: 2h, 30m, 7d.
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    since: Option<Since>,
    /// Show only records before a time, a date (UTC), or an age.
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    until: Option<Since>,
    /// Show only what was denied: by a hook, or by the answer to a question.
    #[arg(long)]
    denied: bool,
    /// Show only questions of hooks, and their answers.
    #[arg(long = "asked")]
    questions: bool,
    /// Show only events of this agent, such as claude-code, or tenter.
    #[arg(long, value_name = "AGENT", value_parser = agent)]
    agent: Option<String>,
    /// Show only records that contain this text, in whatever case.
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Show only these decisions, separated by commas.
    #[arg(long, value_name = "DECISION", value_delimiter = ',', value_parser = decision)]
    decision: Vec<DecisionKind>,
    /// Show only calls of this tool, in any of its spellings.
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Show only this hook, by its full name.
    #[arg(long, value_name = "HOOK")]
    pub(super) hook: Option<String>,
    /// Show only this event, in any of its spellings.
    #[arg(long, value_name = "EVENT", value_parser = events)]
    event: Option<Events>,
    /// Show only failed runs, and what was denied because of them.
    #[arg(long)]
    failed: bool,
}

impl FilterArgs {
    /// Returns the earliest time of the records.
    pub(super) fn since(&self, now: Timestamp) -> Option<Timestamp> {
        self.since.map(|since| since.before(now))
    }
}

/// The events that a spelling means.
#[derive(Debug, Clone)]
struct Events(Vec<EventName>);

fn events(spelling: &str) -> Result<Events, String> {
    let events = lifecycle::by_any_spelling(spelling);
    if events.is_empty() {
        let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
        return Err(format!("the events are {}", names.join(", ")));
    }
    Ok(Events(events))
}

fn agent(id: &str) -> Result<String, String> {
    let agents: Vec<&str> = hosts::ALL.iter().map(|host| host.id).chain([TENTER]).collect();
    if agents.contains(&id) {
        return Ok(id.to_owned());
    }
    Err(did_you_mean(id, &agents, || format!("the agents are {}", agents.join(", "))))
}

fn decision(word: &str) -> Result<DecisionKind, String> {
    DecisionKind::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
        let words = DecisionKind::ALL.map(DecisionKind::as_str);
        format!("the decisions are {}", words.join(", "))
    })
}

/// Decides which records are shown.
pub(super) struct RecordFilter<'a> {
    args: &'a FilterArgs,
    /// The earliest time.
    since: Option<Timestamp>,
    /// The same, as records write it.
    since_text: Option<String>,
    /// The first time that is too late, as records write it.
    until: Option<String>,
    /// The searched text in lower case.
    search: String,
    /// The canonical name of the tool, where the table of tools has it.
    tool: Option<&'a str>,
}

impl<'a> RecordFilter<'a> {
    pub(super) fn new(args: &'a FilterArgs, now: Timestamp) -> Self {
        let since = args.since.map(|since| since.before(now));
        Self {
            args,
            since,
            since_text: since.map(rfc3339),
            until: args.until.map(|until| rfc3339(until.before(now))),
            search: args.grep.as_deref().unwrap_or_default().to_lowercase(),
            tool: args.tool.as_deref().map(canonical),
        }
    }

    /// Returns the earliest time of the records that are shown.
    pub(super) fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Checks whether a record is shown.
    pub(super) fn keeps(&self, line: &JournalLine) -> bool {
        let record = &line.record;
        let FilterArgs { decision, hook, event, agent, .. } = self.args;
        let at =
            |Events(events): &Events| events.iter().any(|event| event.as_str() == record.event);
        let is_tool = |tool: &str| record.tool_name.as_deref().map(canonical) == Some(tool);
        let host = record.host.as_deref().unwrap_or(TENTER);
        self.since_text.as_ref().is_none_or(|since| record.time >= *since)
            && self.until.as_ref().is_none_or(|until| record.time < *until)
            && event.as_ref().is_none_or(at)
            && self.tool.is_none_or(is_tool)
            && agent.as_ref().is_none_or(|agent| agent == host)
            && hook.as_ref().is_none_or(|hook| record.kind.hooks().any(|name| name == hook))
            && (decision.is_empty() || decision.iter().any(|kind| record.kind.decided(*kind)))
            && self.is_wanted(&record.kind)
            && (self.search.is_empty() || self.finds(record))
    }

    /// Checks the flags for kinds of decisions, one of which must hold.
    fn is_wanted(&self, kind: &RecordKind) -> bool {
        let FilterArgs { denied, questions, failed, .. } = self.args;
        let any = *denied || *questions || *failed;
        !any || (*denied && is_denial(kind))
            || (*questions && kind.decided(DecisionKind::Ask))
            || (*failed && is_failure(kind))
    }

    /// Checks whether a text of the record contains the searched text.
    fn finds(&self, record: &Record) -> bool {
        let value = serde_json::to_value(record).unwrap_or_default();
        contains(&value, &self.search)
    }
}

fn contains(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.to_lowercase().contains(text),
        Value::Array(items) => items.iter().any(|item| contains(item, text)),
        Value::Object(fields) => fields.values().any(|item| contains(item, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_denial(kind: &RecordKind) -> bool {
    match kind {
        RecordKind::Answer(answer) => !answer.allowed,
        RecordKind::Permission(permission) => !permission.allowed,
        kind => kind.decided(DecisionKind::Deny),
    }
}

fn canonical(name: &str) -> &str {
    tool_names::canonical(name).unwrap_or(name)
}

fn is_failure(kind: &RecordKind) -> bool {
    match kind {
        RecordKind::Run(run) => run.decision == DecisionKind::Failed,
        RecordKind::Decision(decision) => decision.by_failure,
        RecordKind::Answer(_)
        | RecordKind::Permission(_)
        | RecordKind::Notice(_)
        | RecordKind::Other(_) => false,
    }
}
