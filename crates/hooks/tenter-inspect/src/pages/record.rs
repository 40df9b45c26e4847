//! One record of a timeline.

use maud::{Markup, html};
use tenter_engine::journal::{
    AnswerRecord, DecisionRecord, PermissionRecord, Record, RecordKind, RunRecord,
};
use tenter_engine::{DecisionKind, RunEnd};
use tenter_protocol::{Object, json};

use super::layout::{badge, duration};
use super::{Context, change};

/// Returns a record as an item of a list; nothing if it adds nothing to the others.
pub(super) fn row(context: &Context<'_>, record: &Record) -> Markup {
    match &record.kind {
        RecordKind::Run(run) => html! { li.row { (run_row(context, record, run)) } },
        RecordKind::Decision(decision) => decision_row(context, record, decision),
        RecordKind::Answer(answer) => html! { li.row.answer { (answer_row(answer)) } },
        RecordKind::Permission(permission) => {
            html! { li.row.answer { (permission_row(permission)) } }
        }
        RecordKind::Notice(notice) => {
            html! { li.row.notice { div.line { span.badge.notice { "notice" } @if let Some(hook) = &notice.hook { span.hook { (hook) } } } p.reason { (notice.text) } } }
        }
        RecordKind::Other(fields) => html! { li.row { (other_row(fields)) } },
    }
}

fn run_row(context: &Context<'_>, record: &Record, run: &RunRecord) -> Markup {
    // The reason of a failure says how the process ended.
    let shows_end = run.decision != DecisionKind::Failed
        && !matches!(run.end, RunEnd::Exited(0) | RunEnd::NoProcess);
    html! {
        div.line {
            (badge(run.decision))
            @for also in &run.also { (badge(*also)) }
            (hook(context, &run.hook, &run.fingerprint.0))
            span.event { (record.event) }
            @if run.asynchronous { span.tag { "async" } }
            @if shows_end { span.tag.warn { (run.end) } }
            span.duration { (duration(run.duration)) }
        }
        @if let Some(reason) = &run.reason { p.reason { (reason) } }
        @if let Some(rule) = &run.rule {
            p.detail { "rule " strong { (rule.rule) } @if !rule.is_certain { " perhaps" } " fits: " code { (rule.text) } }
        }
        @if let Some(change) = &run.change { (change::show(change, &record.event)) }
        @for warning in &run.warnings { p.detail.warn { (warning) } }
        @for note in &run.notes { p.detail { (note) } }
        (output("stdout", &run.stdout))
        (output("stderr", &run.stderr_tail))
    }
}

/// Returns a hook, with a link to its source as it was trusted.
fn hook(context: &Context<'_>, name: &str, hash: &str) -> Markup {
    html! {
        @if hash.is_empty() {
            span.hook { (name) }
        } @else {
            a.hook href=(context.links.source(name, hash)) title="Its source as it was trusted" { (name) }
        }
    }
}

fn output(name: &str, text: &str) -> Markup {
    html! {
        @if !text.trim().is_empty() {
            details { summary { (name) } pre { code { (text.trim_end()) } } }
        }
    }
}

/// Returns a decision, where it says more than the runs that it was made of, or if decisions were searched for.
fn decision_row(context: &Context<'_>, record: &Record, decision: &DecisionRecord) -> Markup {
    let denies = decision.by_failure || decision.decision == DecisionKind::Deny;
    let is_wanted = !context.filter.decision.is_empty();
    html! {
        @if let Some(fact) = &decision.confined {
            li.row.decision { div.line { span.badge.confine { "confined" } span { (fact) } } }
        }
        @if denies || is_wanted || !decision.overruled.is_empty() {
            li.row.decision {
                div.line {
                    (badge(decision.decision))
                    span { strong { (record.event) } " "
                        @if denies { "is denied" } @else { "is decided" }
                        @if let Some(by) = &decision.by { " by " span.hook { (by) } }
                        @if decision.by_failure { ", which failed" }
                    }
                }
                @if let Some(reason) = decision.reason.as_ref().filter(|_| decision.by_failure) { p.reason { (reason) } }
                @for hook in &decision.overruled {
                    p.detail { (hook) " also wants to change the history; an earlier hook does" }
                }
            }
        }
    }
}

fn answer_row(answer: &AnswerRecord) -> Markup {
    html! {
        div.line {
            span.badge.ask { "asked" }
            span.hook { (answer.hook) }
            span { "answer: " strong { (answer.answer) } @if answer.remembered { " (given earlier)" }
                "; the call " (if answer.allowed { "may run" } else { "does not run" }) }
        }
        @if !answer.reason.is_empty() { p.reason { (answer.reason) } }
    }
}

fn permission_row(permission: &PermissionRecord) -> Markup {
    html! {
        div.line {
            span.badge.ask { "permission" }
            span { "by the " strong { (permission.by) }
                @if let Some(answer) = &permission.answer { ": " (answer) }
                @if permission.remembered { " (given earlier)" }
                "; the call " (if permission.allowed { "may run" } else { "does not run" }) }
        }
        @for rule in &permission.rules { p.detail { (rule) } }
        @if let Some(reason) = &permission.reason { p.reason { (reason) } }
    }
}

/// Returns a record that this version does not know.
fn other_row(fields: &Object) -> Markup {
    let text = |key: &str| fields.get(key).and_then(serde_json::Value::as_str);
    html! {
        div.line {
            span.badge.none { (text("kind").unwrap_or("unknown")) }
            @if let Some(hook) = text("hook") { span.hook { (hook) } }
            span.tag { "written by another version" }
        }
        @if let Some(reason) = text("reason") { p.reason { (reason) } }
        details { summary { "All fields" } pre { code { (json::to_string(&serde_json::Value::Object(fields.clone()))) } } }
    }
}
