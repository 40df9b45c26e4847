//! The pages of the calls in agents' transcripts: what the installed hooks would have stopped, and what they decided about each call.

use std::collections::BTreeSet;

use maud::{Markup, html};
use tenter_backtest::{CallEnd, RuleReport, StoppedCommand};
use tenter_base::format_count;

use super::Context;
use super::layout::{Column, Page, badge, table, time};
use super::timeline::{Choices, filter_form};
use crate::facts::{PastCalls, TranscriptCall};
use crate::http::Response;

/// The paths of the pages.
const BACKTEST: &str = "/backtest";
const CALLS: &str = "/calls";
/// The parameter that says that a wrong stop is one of a shell command.
const IS_COMMAND: &str = "command";
/// The columns of the commands of a rule.
const COMMAND_COLUMNS: [Column; 7] = [
    Column::Text("Last"),
    Column::Text("Call"),
    Column::Number("Calls"),
    Column::Text("Agent"),
    Column::Text("Project"),
    Column::Text("Record"),
    Column::Text("Verdict"),
];
/// Maximum number of commands of a rule on the page.
const MAX_SHOWN: usize = 100;

/// Returns the page of what the installed hooks would have stopped.
pub(super) fn page(context: &Context<'_>) -> Response {
    let past = context.pages.facts.past_calls(context.is_all);
    let part = html! {
        @match &past {
            None => { (reading()) },
            Some(past) => {
                (problem(past))
                p { (in_short(past)) }
                (wrong(context))
                @for rule in past.report.rules.iter().filter(|rule| is_chosen(context, rule)) {
                    (rule_section(context, rule))
                }
                (notes(past))
            },
        }
    };
    let choices = past.as_ref().map(|past| rule_choices(past)).unwrap_or_default();
    let fixed = html! {
        p.note { "What the installed hooks would have done with the calls of the last 30 days. Nothing was executed." }
        (filter_form(context, BACKTEST, &choices))
    };
    let page = Page { title: "Backtest", current: BACKTEST, heading: html! { "Backtest" } };
    context.live(&page, &fixed, &part)
}

/// Returns the page of the calls, with what hooks decided about each.
pub(super) fn calls(context: &Context<'_>) -> Response {
    let past = context.pages.facts.past_calls(context.is_all);
    let filter = &context.filter;
    let is_chosen = |call: &&TranscriptCall| {
        let decision = call.decision.map_or("", |decision| decision.as_str());
        (filter.host.is_empty() || filter.host == call.agent)
            && (filter.tool.is_empty() || filter.tool == call.tool)
            && (filter.decision.is_empty() || filter.decision == decision)
            && (filter.hook.is_empty() || call.by.as_deref() == Some(&filter.hook))
            && contains(&call.call, &filter.search)
    };
    let part = html! {
        @match &past {
            None => { (reading()) },
            Some(past) => {
                (problem(past))
                @let calls: Vec<&TranscriptCall> = past.newest.iter().filter(is_chosen).collect();
                @if calls.is_empty() { div.empty { p { "No transcript has such calls." } } }
                @else { (calls_table(&calls)) }
                (notes(past))
            },
        }
    };
    let choices = past.as_ref().map(|past| call_choices(past)).unwrap_or_default();
    let fixed = html! {
        p.note { "The newest calls in the transcripts of agents. Where there is no decision, no hook ran." }
        (filter_form(context, CALLS, &choices))
    };
    let page = Page { title: "Transcripts", current: CALLS, heading: html! { "Transcripts" } };
    context.live(&page, &fixed, &part)
}

fn reading() -> Markup {
    html! { p.note role="status" { "The transcripts are read. This takes up to a minute." } }
}

fn problem(past: &PastCalls) -> Markup {
    html! {
        @if let Some(error) = &past.error { p.problem role="alert" { "Past calls cannot be read: " (error) } }
    }
}

fn in_short(past: &PastCalls) -> String {
    let report = &past.report;
    let hosts: Vec<&str> = report.hosts.keys().copied().collect();
    format!(
        "{} in {} of {}: {} would be stopped, {} pass, {} cannot be judged.",
        format_count(report.calls, "call", "calls"),
        format_count(report.sessions, "session", "sessions"),
        hosts.join(", "),
        report.stopped,
        report.passed,
        report.unknown,
    )
}

/// Returns the values that the filter of stopped calls offers.
fn rule_choices(past: &PastCalls) -> Choices {
    let rules = &past.report.rules;
    let commands = rules.iter().flat_map(|rule| &rule.commands);
    Choices {
        tools: sort(commands.map(|command| command.tool.clone())),
        hooks: sort(rules.iter().map(|rule| rule.hook.clone())),
        hosts: past.report.hosts.keys().map(|host| (*host).to_owned()).collect(),
    }
}

/// Returns the values that the filter of calls offers.
fn call_choices(past: &PastCalls) -> Choices {
    let calls = &past.newest;
    Choices {
        tools: sort(calls.iter().map(|call| call.tool.clone())),
        hooks: sort(calls.iter().filter_map(|call| call.by.clone())),
        hosts: past.report.hosts.keys().map(|host| (*host).to_owned()).collect(),
    }
}

fn sort(names: impl Iterator<Item = String>) -> Vec<String> {
    names.collect::<BTreeSet<String>>().into_iter().collect()
}

fn is_chosen(context: &Context<'_>, rule: &RuleReport) -> bool {
    let filter = &context.filter;
    let name = context.request.value("rule").unwrap_or_default();
    (filter.hook.is_empty() || filter.hook == rule.hook)
        && (filter.decision.is_empty() || filter.decision == rule.decision.as_str())
        && (name.is_empty() || rule.rule.as_deref() == Some(name))
        && rule.commands.iter().any(|command| is_command_chosen(context, command))
}

fn is_command_chosen(context: &Context<'_>, command: &StoppedCommand) -> bool {
    let filter = &context.filter;
    let project = context.request.value("project").unwrap_or_default();
    (filter.host.is_empty() || command.hosts.contains(filter.host.as_str()))
        && (filter.tool.is_empty() || filter.tool == command.tool)
        && (project.is_empty() || command.projects.contains(project))
        && contains(&command.command, &filter.search)
}

fn contains(text: &str, search: &str) -> bool {
    search.is_empty() || text.to_lowercase().contains(&search.to_lowercase())
}

fn rule_section(context: &Context<'_>, rule: &RuleReport) -> Markup {
    let name = rule.rule.as_deref().unwrap_or_default();
    let link = context.links.to(BACKTEST, [("hook", rule.hook.as_str()), ("rule", name)]);
    let commands: Vec<&StoppedCommand> =
        rule.commands.iter().filter(|command| is_command_chosen(context, command)).collect();
    let rows = html! {
        @for command in commands.iter().take(MAX_SHOWN) { (row(context, rule, command)) }
    };
    html! {
        section aria-label=(format!("{} {name}", rule.hook)) {
            h2 { a href=(link) { (rule.hook) " " (name) } " " (badge(rule.decision)) }
            p {
                (rule.calls) " of these calls in " (format_count(rule.sessions, "session", "sessions")) ", "
                (format_count(rule.distinct, "distinct command", "distinct commands"))
                @if rule.denied > 0 { "; " (rule.denied) " of them were denied anyway" }
                ". " (rule.reason)
            }
            (table("Calls", "Distinct commands, the newest first", &COMMAND_COLUMNS, &rows))
        }
    }
}

fn row(context: &Context<'_>, rule: &RuleReport, command: &StoppedCommand) -> Markup {
    let name = rule.rule.as_deref().unwrap_or_default();
    let project = context.links.to(BACKTEST, [("project", command.project.as_str())]);
    let wrong = [
        ("hook", rule.hook.as_str()),
        ("rule", name),
        (IS_COMMAND, if command.tool == "bash" { "1" } else { "" }),
        ("wrong", command.part.as_str()),
    ];
    html! {
        tr {
            td data-label="Last" { (time(&command.time)) }
            td data-label="Call" { code { (command.command) } }
            td.number data-label="Calls" {
                (command.calls)
                @if command.denied > 0 { span.sub { (command.denied) " denied anyway" } }
            }
            td data-label="Agent" { @for host in &command.hosts { span.host { (host) } " " } }
            td data-label="Project" { a href=(project) { (command.project) } }
            td data-label="Record" { code { (command.file) ":" (command.line) } }
            td data-label="Verdict" {
                @if !name.is_empty() { a href=(context.links.to(BACKTEST, wrong)) { "wrong?" } }
            }
        }
    }
}

/// Shows the exception for a row that the user calls wrong.
fn wrong(context: &Context<'_>) -> Markup {
    let Some(part) = context.request.value("wrong") else { return html! {} };
    let value = |key: &str| context.request.value(key).unwrap_or_default();
    let lines = context.pages.facts.exception(part, value(IS_COMMAND) == "1");
    html! {
        section.attention aria-label="Exception" {
            h2 { "Exception for " code { (part) } }
            @match lines {
                Some(lines) => {
                    p { "Add this to the rule " strong { (value("rule")) } " in the " code { "HOOK.md" } " of " strong { (value("hook")) } ", and to its lists if it has some:" }
                    pre { (lines) }
                },
                None => p { "It is not one command with known words: change the rule " strong { (value("rule")) } " of " strong { (value("hook")) } " yourself." },
            }
        }
    }
}

fn notes(past: &PastCalls) -> Markup {
    let report = &past.report;
    html! {
        @if !report.undecided.is_empty() {
            p.note { "Not judged, because they need a process or cannot run: " (report.undecided.join(", ")) "." }
        }
        @for (host, counts) in &report.hosts {
            @for (kind, count) in &counts.unknown {
                p.note { (host) ": " (count) " records of the unknown kind " code { (kind) } "." }
            }
            @for (file, why) in &counts.unreadable_files {
                p.problem { (host) ": cannot read " code { (file) } ": " (why) }
            }
        }
    }
}

fn calls_table(calls: &[&TranscriptCall]) -> Markup {
    let columns = ["Time", "Agent", "Call", "Decision", "End"].map(Column::Text);
    let rows = html! { @for call in calls { (call_row(call)) } };
    table("Calls in transcripts", "Calls in transcripts, the newest first", &columns, &rows)
}

fn call_row(call: &TranscriptCall) -> Markup {
    let end = match call.end {
        CallEnd::Unknown => "",
        CallEnd::Succeeded => "succeeded",
        CallEnd::Approved => "you allowed it",
        CallEnd::Failed => "failed",
        CallEnd::Denied(_) => "did not run",
    };
    html! {
        tr {
            td data-label="Time" { (time(&call.time)) }
            td data-label="Agent" { span.host { (call.agent) } @if call.subagent.is_some() { span.sub { "subagent" } } }
            td data-label="Call" { span.tool { (call.tool) } " " code { (call.call) } }
            td data-label="Decision" {
                @match call.decision {
                    Some(decision) => { (badge(decision)) @if let Some(by) = &call.by { span.sub { (by) } } },
                    None => { span.sub { "unguarded" } },
                }
            }
            td data-label="End" { (end) }
        }
    }
}
