//! Filters records by time, decision, tool, hook and event.

use jiff::Timestamp;
use tenter_base::rfc3339;
use tenter_engine::DecisionKind;
use tenter_engine::journal::{Record, RecordKind};
use tenter_protocol::lifecycle::{self, TABLE};
use tenter_protocol::{EventName, tool_names};

use crate::since::Since;

/// The flags that choose records.
#[derive(Debug, Default, clap::Args)]
pub(super) struct FilterArgs {
    /// Show only records since a time, a date (UTC), or an age: 2h, 30m, 7d.
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    since: Option<Since>,
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
    /// The canonical name of the tool, where the table of tools has it.
    tool: Option<&'a str>,
}

impl<'a> RecordFilter<'a> {
    pub(super) fn new(args: &'a FilterArgs, now: Timestamp) -> Self {
        let since = args.since.map(|since| since.before(now));
        let tool = args.tool.as_deref().map(canonical);
        Self { args, since, since_text: since.map(rfc3339), tool }
    }

    /// Returns the earliest time of the records that are shown.
    pub(super) fn since(&self) -> Option<Timestamp> {
        self.since
    }

    /// Checks whether a record is shown.
    pub(super) fn keeps(&self, record: &Record) -> bool {
        let FilterArgs { since: _, decision, tool: _, hook, event, failed } = self.args;
        let at =
            |Events(events): &Events| events.iter().any(|event| event.as_str() == record.event);
        let is_tool = |tool: &str| record.tool_name.as_deref().map(canonical) == Some(tool);
        self.since_text.as_ref().is_none_or(|since| record.time >= *since)
            && event.as_ref().is_none_or(at)
            && self.tool.is_none_or(is_tool)
            && hook.as_ref().is_none_or(|hook| record.kind.hooks().any(|name| name == hook))
            && (decision.is_empty() || decision.iter().any(|kind| record.kind.decided(*kind)))
            && (!failed || is_failure(&record.kind))
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
