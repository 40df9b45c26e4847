//! The page of hooks: how often each ran, what it decided, how long it took.

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use tenter_engine::builtin;

use super::layout::{Page, duration, time};
use super::{Context, chart, problems, progress};
use crate::figures::{self, Figures, HookFigures, QuestionAnswer, RuleFigures, Run};
use crate::http::Response;

/// The choices of a period: how it is called in addresses, and its hours.
const PERIODS: [(&str, &str, Option<i64>); 4] = [
    ("1h", "Last hour", Some(1)),
    ("1d", "Last day", Some(24)),
    ("7d", "Last week", Some(7 * 24)),
    ("", "All", None),
];

pub(super) fn page(context: &Context<'_>) -> Response {
    let hooks = context.pages.facts.hooks();
    let period = context.request.value("since").unwrap_or_default();
    let since = since((context.pages.clock)(), period);
    let (index, counts, error) = context.pages.index();
    let is_counted =
        |run: &Run<'_>| since.is_none_or(|since| run.at >= since) && run.hook != builtin::NAME;
    let is_recent = |answer: &QuestionAnswer<'_>| since.is_none_or(|since| answer.at >= since);
    let (figures, rules) = if context.is_all {
        let runs = || index.runs().filter(is_counted);
        (
            figures::compute(runs(), index.answers().filter(is_recent), &hooks),
            figures::rules(runs()),
        )
    } else {
        let project = &context.pages.project;
        let runs = || index.runs_of(project).filter(is_counted);
        let answers = index.answers_of(project).filter(is_recent);
        (figures::compute(runs(), answers, &hooks), figures::rules(runs()))
    };
    let part = html! {
        (problems(&index, error))
        (progress(counts))
        (attention(&figures))
        @if figures.hooks.is_empty() {
            div.empty { p { "No hook ran in this period." } }
        } @else {
            (table(context, &figures))
            (rules_table(context, &rules))
        }
        (never_ran(&figures, since.is_some()))
    };
    let page = Page { title: "Hooks", current: "/hooks", heading: html! { "Hooks" } };
    context.live(&page, &periods(context, "/hooks", period), &part)
}

pub(super) fn since(now: Timestamp, period: &str) -> Option<Timestamp> {
    let (_, _, hours) = PERIODS.into_iter().find(|(name, _, _)| *name == period)?;
    now.checked_sub(SignedDuration::from_hours(hours?)).ok()
}

/// Returns the links to the page at `path` for each period.
pub(super) fn periods(context: &Context<'_>, path: &str, choice: &str) -> Markup {
    html! {
        nav.choices aria-label="Period" {
            @for (name, text, _) in PERIODS {
                @let since = (!name.is_empty()).then_some(("since", name));
                @let query = context.filter.fields().chain(since);
                a.button href=(context.links.to(path, query)) aria-current=[(name == choice).then_some("true")] { (text) }
            }
        }
    }
}

/// Shows the hooks that need the user's attention.
fn attention(figures: &Figures) -> Markup {
    let over = figures.hooks.iter().filter_map(|hook| Some((hook, hook.over_budget?)));
    let slow = figures.hooks.iter().filter_map(|hook| Some((hook, hook.slows_every_call?)));
    let failing = figures.hooks.iter().filter(|hook| hook.failures > 0);
    let texts: Vec<Markup> = failing
        .map(|hook| {
            html! { strong { (hook.name) } " failed in " (hook.failures) " of " (hook.runs) " runs." }
        })
        .chain(over.map(|(hook, over)| {
            html! { "The p95 of " strong { (hook.name) } " is " (over.p95.as_millis()) " ms; its budget is " (over.budget.as_millis()) " ms." }
        }))
        .chain(slow.map(|(hook, median)| {
            html! { strong { (hook.name) } " slows down every tool call: half of its runs take " (median.as_millis()) " ms or more." }
        }))
        .collect();
    html! {
        @if !texts.is_empty() {
            section.attention aria-label="Needs attention" {
                h2 { "Needs attention" }
                ul { @for text in &texts { li { (text) } } }
            }
        }
    }
}

fn table(context: &Context<'_>, figures: &Figures) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Figures of hooks" {
            table.list.hooks {
                caption.hidden { "Hooks, those with the largest share of the time first" }
                thead {
                    tr {
                        th scope="col" { "Hook" }
                        th scope="col" { "Over time" }
                        th.number scope="col" { "Runs" }
                        th.number scope="col" { "Denied" }
                        th.number scope="col" { "Asked" }
                        th.number scope="col" { "Failed" }
                        th.number scope="col" { "Share" }
                        th scope="col" { "Durations" }
                        th.number scope="col" { abbr title="Half of the runs took no longer" { "p50" } }
                        th.number scope="col" { abbr title="95 % of the runs took no longer" { "p95" } }
                        th.number scope="col" { "Max" }
                        th scope="col" { "Last run" }
                    }
                }
                tbody { @for hook in &figures.hooks { (row(context, hook)) } }
            }
        }
    }
}

fn row(context: &Context<'_>, hook: &HookFigures) -> Markup {
    html! {
        tr {
            th scope="row" {
                @if hook.hash.is_empty() { span.hook { (hook.name) } }
                @else { a.hook href=(context.links.source(&hook.name, &hook.hash)) { (hook.name) } }
                @if hook.over_budget.is_some() { " " span.tag.warn { "over budget" } }
            }
            td data-label="Over time" { (chart::over_time(hook)) }
            td.number data-label="Runs" { (hook.runs) }
            td.number.bad[hook.denials > 0] data-label="Denied" { (hook.denials) }
            td.number data-label="Asked" {
                (hook.questions.count)
                @if hook.questions.count > 0 { span.sub { (hook.questions.describe()) } }
            }
            td.number.bad[hook.failures > 0] data-label="Failed" { (hook.failures) }
            td.number data-label="Share" { (format!("{:.0} %", hook.share * 100.0)) }
            td data-label="Durations" { (chart::spread(hook)) }
            td.number data-label="p50" { (duration(hook.durations.p50)) }
            td.number.bad[hook.over_budget.is_some()] data-label="p95" { (duration(hook.durations.p95)) }
            td.number data-label="Max" { (duration(hook.durations.max)) }
            td data-label="Last run" { (time(&tenter_base::rfc3339(hook.last))) }
        }
    }
}

/// Shows the rules that fit a call, those that stopped most calls first.
fn rules_table(context: &Context<'_>, rules: &[RuleFigures]) -> Markup {
    html! {
        @if !rules.is_empty() {
            h2 { "Rules" }
            table.list {
                caption.hidden { "Rules, those that stopped most calls first" }
                thead {
                    tr {
                        th scope="col" { "Rule" }
                        th scope="col" { "Hook" }
                        th.number scope="col" { "Denied" }
                        th.number scope="col" { "Asked" }
                        th.number scope="col" { abbr title="95 % of the runs took no longer" { "p95" } }
                        th scope="col" { "Last" }
                    }
                }
                tbody {
                    @for rule in rules {
                        tr {
                            th scope="row" {
                                a href=(context.links.to("/stopped", [("hook", rule.hook.as_str()), ("q", rule.rule.as_str())])) { (rule.rule) }
                            }
                            td data-label="Hook" { (rule.hook) }
                            td.number data-label="Denied" { (rule.denials) }
                            td.number data-label="Asked" { (rule.questions) }
                            td.number data-label="p95" { (duration(rule.durations.p95)) }
                            td data-label="Last" { (time(&tenter_base::rfc3339(rule.last))) }
                        }
                    }
                }
            }
        }
    }
}

fn never_ran(figures: &Figures, has_since: bool) -> Markup {
    html! {
        @if !figures.never_ran.is_empty() {
            section aria-label="Hooks that did not run" {
                h2 { (if has_since { "Did not run in this period" } else { "Never ran" }) }
                ul.names { @for name in &figures.never_ran { li { code { (name) } } } }
            }
        }
    }
}
