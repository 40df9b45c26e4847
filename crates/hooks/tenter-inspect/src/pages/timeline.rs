//! The timeline: records, grouped by turn and call.

use maud::{Markup, html};
use tenter_bridge::hosts;
use tenter_engine::DecisionKind;
use tenter_engine::journal::{Record, RecordKind};
use tenter_protocol::{EventName, call_summary, lifecycle};

use super::layout::time;
use super::{Context, record};
use crate::index::Session;

/// Maximum length of a call in a heading, in characters.
const MAX_CALL: usize = 2000;

/// The possible values of a filter.
#[derive(Default)]
pub(super) struct Choices {
    pub(super) tools: Vec<String>,
    pub(super) hooks: Vec<String>,
    pub(super) hosts: Vec<String>,
}

/// Returns the form of the filter with the tools, hooks and agents of sessions, for the page at `path`.
pub(super) fn sessions_filter_form(
    context: &Context<'_>,
    path: &str,
    sessions: &[Session<'_>],
) -> Markup {
    let collect = |names: fn(&Session<'_>) -> Vec<String>| -> Vec<String> {
        let mut all: Vec<String> = sessions.iter().flat_map(names).collect();
        all.sort();
        all.dedup();
        all
    };
    let choices = Choices {
        tools: collect(|session| session.tools.iter().map(|name| (*name).to_owned()).collect()),
        hooks: collect(|session| session.hooks.iter().map(|name| (*name).to_owned()).collect()),
        hosts: collect(|session| session.hosts.iter().map(|name| (*name).to_owned()).collect()),
    };
    filter_form(context, path, &choices)
}

/// Returns the form of the filter, for the page at `path`.
pub(super) fn filter_form(context: &Context<'_>, path: &str, choices: &Choices) -> Markup {
    let filter = &context.filter;
    let select = |id: &'static str, label: &str, choice: &str, all: &[String]| {
        // What is chosen stays a choice, even if there is nothing of it here.
        let missing =
            (!choice.is_empty() && !all.iter().any(|name| name == choice)).then_some(choice);
        html! {
            label { span { (label) }
                select name=(id) {
                    option value="" { "any" }
                    @for name in all.iter().map(String::as_str).chain(missing) {
                        option value=(name) selected[name == choice] { (name) }
                    }
                }
            }
        }
    };
    let decisions: Vec<String> =
        DecisionKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect();
    html! {
        form.filter role="search" aria-label="Filter" method="get" action=(path) {
            label.wide { span { "Search" } input type="search" name="q" value=(filter.search) placeholder="command, path, reason …"; }
            (select("tool", "Tool", &filter.tool, &choices.tools))
            (select("hook", "Hook", &filter.hook, &choices.hooks))
            (select("decision", "Decision", &filter.decision, &decisions))
            (select("host", "Agent", &filter.host, &choices.hosts))
            (context.links.hidden_fields())
            button type="submit" { "Filter" }
            @if !filter.is_empty() { a.button href=(context.links.to(path, [])) { "Clear" } }
        }
    }
}

/// A group of records.
struct Group<'r> {
    records: Vec<&'r Record>,
}

/// Returns the records as items of a list. `last` is the event of the record before them.
pub(super) fn items(context: &Context<'_>, records: &[Record], last: Option<&str>) -> Markup {
    let mut last = last.map(str::to_owned);
    let groups = groups(records);
    html! {
        @for group in &groups {
            @let first = group.records[0];
            @if begins_turn(first, last.as_deref()) { (turn(first)) }
            (item(context, group))
            @let _ = last.replace(first.event.clone());
        }
    }
}

/// Returns true if a record is the first of a turn: hooks look at the user's message, or the session starts.
fn begins_turn(record: &Record, last: Option<&str>) -> bool {
    let is = |event: &str, name: EventName| event == name.as_str();
    let starts =
        |event: &str| is(event, EventName::BeforeAgent) || is(event, EventName::SessionStart);
    record.parent_conversation_id.is_none() && starts(&record.event) && !last.is_some_and(starts)
}

fn turn(first: &Record) -> Markup {
    html! { li.turn { h2 { "Turn" } (time(&first.time)) } }
}

/// Groups records by call; others by event, as long as nothing else happens.
fn groups(records: &[Record]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for record in records {
        let group =
            groups.iter_mut().rev().take(40).find(|group| belongs(group.records[0], record));
        // A group is only left for a call: the records of parallel calls are mixed.
        match group {
            Some(group) => group.records.push(record),
            None => groups.push(Group { records: vec![record] }),
        }
    }
    groups
}

fn belongs(first: &Record, record: &Record) -> bool {
    let is_same = first.conversation_id == record.conversation_id;
    match (&first.tool_call_id, &record.tool_call_id) {
        (Some(one), Some(other)) => is_same && one == other && first.tool_name == record.tool_name,
        (None, None) => is_same && first.event == record.event && is_near(first, record),
        _ => false,
    }
}

/// Returns true if two records belong to one event: its hooks run one after another.
fn is_near(first: &Record, record: &Record) -> bool {
    first.time.get(..16) == record.time.get(..16)
}

/// Returns the result of a call or an event.
fn state(group: &Group<'_>) -> Option<(&'static str, &'static str)> {
    let may_block = |record: &&&Record| {
        let mut events = lifecycle::by_any_spelling(&record.event).into_iter();
        events.any(|event| event.may(lifecycle::Power::Block))
    };
    let decided = |kind: DecisionKind| {
        let mut records = group.records.iter().filter(may_block);
        records.any(|record| match &record.kind {
            RecordKind::Decision(decision) => decision.decision == kind,
            RecordKind::Run(run) => run.decision == kind && !run.asynchronous,
            _ => false,
        })
    };
    let is_refused = group.records.iter().any(|record| match &record.kind {
        RecordKind::Answer(answer) => !answer.allowed,
        RecordKind::Permission(permission) => !permission.allowed,
        _ => false,
    });
    let has_failed =
        || group.records.iter().any(|record| record.kind.decided(DecisionKind::Failed));
    let rewrites = || group.records.iter().any(|record| record.kind.decided(DecisionKind::Rewrite));
    if decided(DecisionKind::Deny) || is_refused {
        Some(("blocked", "Blocked"))
    } else if has_failed() {
        Some(("failed", "Hook failed"))
    } else if rewrites() {
        Some(("rewritten", "Rewritten"))
    } else {
        None
    }
}

fn item(context: &Context<'_>, group: &Group<'_>) -> Markup {
    let first = group.records[0];
    let (class, word) = state(group).unwrap_or(("plain", ""));
    let id = first.tool_call_id.as_ref().map(|call| {
        let tool = first.tool_name.as_deref().unwrap_or_default();
        super::layout::version(&format!("{}\n{call}\n{tool}", first.conversation_id))
    });
    html! {
        li class={ "item " (class) } data-call=[id] {
            div.head {
                (title(first))
                @if !word.is_empty() { strong class={ "state " (class) } { (word) } }
                @if first.parent_conversation_id.is_some() {
                    span.tag title=(first.conversation_id) { "subagent" }
                }
                (time(&first.time))
            }
            ul.rows { @for record in &group.records { (record::row(context, record)) } }
        }
    }
}

/// Returns the call, or the event.
fn title(record: &Record) -> Markup {
    let event = record.event.replace('_', " ");
    let Some(tool) = &record.tool_name else { return html! { h3 { (event) } } };
    let input = record.tool_input.as_ref();
    let call = input.map(|input| call_summary(tool, input)).unwrap_or_default();
    let is_long = call.chars().count() > MAX_CALL;
    let call: String = call.chars().take(MAX_CALL).collect();
    html! {
        h3 { span.tool { (hosts::tool_name(record.host.as_deref(), tool)) } }
        @if !call.is_empty() { pre.call { code { (call) @if is_long { "…" } } } }
    }
}
