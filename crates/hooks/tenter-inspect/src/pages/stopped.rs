//! The page of stopped calls: every call that hooks denied, asked about or failed at, the newest first, with text search and export.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use maud::{Markup, html};
use tenter_base::rfc3339;
use tenter_bridge::hosts;
use tenter_engine::DecisionKind;
use tenter_engine::journal::{AnswerRecord, Record, RecordKind, RunRecord};
use tenter_protocol::call_summary;

use super::hooks::{periods, since};
use super::layout::{Column, Page, badge, table, time};
use super::timeline::sessions_filter_form;
use super::{Context, problems, progress};
use crate::csv;
use crate::filter::Filter;
use crate::http::{Response, Status};
use crate::index::Session;
use crate::line::TENTER;
use crate::timeline::{self, JournalQuery};

/// The path of the page.
pub(super) const PATH: &str = "/stopped";
/// Maximum number of calls on the page.
const MAX_SHOWN: usize = 200;
/// Maximum number of calls in the exported file.
const MAX_EXPORTED: usize = 10_000;
/// Maximum time that the search takes.
const SEARCH_TIME: Duration = Duration::from_millis(500);
/// The decisions of stopped calls.
const STOPPING: [DecisionKind; 3] = [DecisionKind::Deny, DecisionKind::Ask, DecisionKind::Failed];

/// A run of a hook that stopped a call, or failed.
struct StoppedCall {
    session: String,
    record: Record,
    run: RunRecord,
    /// The answer to its question.
    answer: Option<String>,
}

/// The newest stopped calls.
#[derive(Default)]
struct StoppedCalls {
    calls: Vec<StoppedCall>,
    /// True if there may be more.
    is_cut: bool,
}

pub(super) fn page(context: &Context<'_>) -> Response {
    let (index, counts, error) = context.pages.index();
    let sessions = sessions(context, index.sessions());
    let calls = StoppedCalls::read(context, &sessions, MAX_SHOWN);
    let period = context.request.value("since").unwrap_or_default();
    let export = context.filter.fields().chain((!period.is_empty()).then_some(("since", period)));
    let part = html! {
        (problems(&index, error))
        (progress(counts))
        @if calls.is_cut {
            p.note role="status" { "Older calls are not shown. Choose a period, or search for a text." }
        }
        @if calls.calls.is_empty() {
            div.empty { p { "No call was denied or asked about." } }
        } @else {
            (calls_table(context, &calls.calls))
            p { a.button href=(context.links.to("/stopped.csv", export)) { "Export as CSV" } }
        }
    };
    let fixed =
        html! { (periods(context, PATH, period)) (sessions_filter_form(context, PATH, &sessions)) };
    let page = Page { title: "Stopped calls", current: PATH, heading: html! { "Stopped calls" } };
    context.live(&page, &fixed, &part)
}

/// Returns the calls as a file of comma-separated values.
pub(super) fn export(context: &Context<'_>) -> Response {
    let (index, _, _) = context.pages.index();
    let sessions = sessions(context, index.sessions());
    let calls = StoppedCalls::read(context, &sessions, MAX_EXPORTED);
    let heading = [
        "time", "agent", "project", "session", "tool", "call", "hook", "rule", "decision",
        "answer", "reason",
    ];
    let mut text = csv::line(heading);
    for call in &calls.calls {
        text += &csv::line(call.cells().iter().map(String::as_str));
    }
    Response::text(Status::Ok, "text/csv; charset=utf-8", text)
}

fn sessions<'i>(context: &Context<'_>, all: Vec<Session<'i>>) -> Vec<Session<'i>> {
    let is_shown = |session: &Session<'_>| {
        let is_stopped = STOPPING.iter().any(|kind| session.decisions.contains(kind));
        is_stopped && (context.is_all || session.projects.contains(&context.pages.project.as_str()))
    };
    all.into_iter().filter(is_shown).collect()
}

impl StoppedCalls {
    /// Reads the newest calls, at most `max`, in the sessions, the newest of which comes first.
    fn read(context: &Context<'_>, sessions: &[Session<'_>], max: usize) -> Self {
        let start = Instant::now();
        let period = context.request.value("since").unwrap_or_default();
        let since = since((context.pages.clock)(), period).map(rfc3339).unwrap_or_default();
        let mut calls = Self::default();
        for session in sessions.iter().filter(|session| *session.last >= *since) {
            let limit = SEARCH_TIME.saturating_sub(start.elapsed());
            if calls.calls.len() >= max || limit.is_zero() {
                calls.is_cut = true;
                break;
            }
            let path = context.pages.journals.path(session.id);
            let query = JournalQuery { filter: &context.filter, count: usize::MAX, limit };
            let slice = timeline::newest(&path, None, &query).unwrap_or_default();
            calls.is_cut |= slice.is_cut;
            calls.add(session.id, slice.records, &context.filter, &since);
        }
        calls.calls.sort_by(|one, other| other.record.time.cmp(&one.record.time));
        calls.is_cut |= calls.calls.len() > max;
        calls.calls.truncate(max);
        calls
    }

    fn add(&mut self, session: &str, records: Vec<Record>, filter: &Filter, since: &str) {
        let mut answers: HashMap<(String, String), String> = HashMap::new();
        for record in &records {
            if let (RecordKind::Answer(answer), Some(call)) = (&record.kind, &record.tool_call_id) {
                answers.insert((call.clone(), answer.hook.clone()), words(answer));
            }
        }
        for mut record in records {
            let RecordKind::Run(run) = &mut record.kind else { continue };
            let is_stopping = STOPPING.contains(&run.decision)
                && (filter.decision.is_empty() || run.decision.as_str() == filter.decision);
            if !is_stopping || *record.time < *since {
                continue;
            }
            let run = RunRecord::clone(run);
            let key = record.tool_call_id.clone().map(|call| (call, run.hook.clone()));
            let answer = key.and_then(|key| answers.get(&key).cloned());
            self.calls.push(StoppedCall { session: session.to_owned(), record, run, answer });
        }
    }
}

fn words(answer: &AnswerRecord) -> String {
    let earlier = if answer.remembered { " (answered earlier)" } else { "" };
    format!("{}{earlier}", answer.answer)
}

impl StoppedCall {
    fn host(&self) -> &str {
        self.record.host.as_deref().unwrap_or(TENTER)
    }

    fn call(&self) -> String {
        let (tool, input) = (&self.record.tool_name, &self.record.tool_input);
        let summary = tool.as_ref().zip(input.as_ref());
        summary.map(|(tool, input)| call_summary(tool, input)).unwrap_or_default()
    }

    /// Returns the name of the rule that the call fits; empty if none does.
    fn rule(&self) -> &str {
        self.run.rule.as_ref().map_or("", |rule| &rule.rule)
    }

    fn cells(&self) -> [String; 11] {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        [
            self.record.time.clone(),
            self.host().to_owned(),
            text(&self.record.project),
            self.session.clone(),
            text(&self.record.tool_name),
            self.call(),
            self.run.hook.clone(),
            self.rule().to_owned(),
            self.run.decision.as_str().to_owned(),
            text(&self.answer),
            text(&self.run.reason),
        ]
    }
}

fn calls_table(context: &Context<'_>, calls: &[StoppedCall]) -> Markup {
    let columns =
        ["Time", "Decision", "Call", "Hook and rule", "Reason", "Agent"].map(Column::Text);
    let rows = html! { @for call in calls { (row(context, call)) } };
    table("Stopped calls", "Stopped calls, the newest first", &columns, &rows)
}

fn row(context: &Context<'_>, call: &StoppedCall) -> Markup {
    let filter = Filter::default();
    html! {
        tr {
            td data-label="Time" { a href=(context.links.session(&call.session, &filter)) { (time(&call.record.time)) } }
            td data-label="Decision" {
                (badge(call.run.decision))
                @if let Some(answer) = &call.answer { span.sub { (answer) } }
            }
            td data-label="Call" {
                @match &call.record.tool_name {
                    Some(tool) => { span.tool { (hosts::tool_name(call.record.host.as_deref(), tool)) } " " code { (call.call()) } }
                    None => { (call.record.event) }
                }
            }
            td data-label="Hook and rule" {
                span.hook { (call.run.hook) }
                @if !call.rule().is_empty() { span.sub { (call.rule()) } }
            }
            td data-label="Reason" { (call.run.reason.as_deref().unwrap_or_default()) }
            td data-label="Agent" {
                span.host { (call.host()) }
                @if context.is_all { @if let Some(project) = &call.record.project { span.sub { (project) } } }
            }
        }
    }
}
