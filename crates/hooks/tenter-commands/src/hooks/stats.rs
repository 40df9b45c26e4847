//! `tenter hooks stats`: the figures of hooks, from the journal.

use std::time::Duration;

use anstyle::Style;
use serde_json::{Value, json};
use tenter_base::{capitalize, one_line, rfc3339, visible};
use tenter_inspect::figures::{self, Figures, HookFigures, QuestionAnswer, RuleFigures, Run};
use tenter_proc::Cancel;
use tenter_terminal::{BAD, Exit, FAINT, HEADING, NAME, NOTICE, now, styled, ui};

use crate::hook_figures;
use crate::project::Project;
use crate::since::Since;

/// Maximum width of the column of names.
const MAX_NAME: usize = 48;

/// Show how often each hook ran, what it decided, and how long it took.
///
/// The figures are of this project, from the journal. Below are the rules that stopped most calls, the answers to questions, failures, hooks
/// that exceed their budget or slow down every tool call, and hooks that never ran.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Count only runs since a time, a date (UTC), or an age: 2h, 30m, 7d.
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    since: Option<Since>,
    /// Count the runs in all projects.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(mut project: Project, args: &Args) -> Exit {
    let catalog = project.load(&Cancel::new());
    let since = args.since.map(|since| since.before(now()));
    let (index, unread) = hook_figures::read(&project.env.journals(), since);
    ui::diagnostics(&unread);
    let root = project.root().to_string_lossy().into_owned();
    let is_counted = |run: &Run<'_>| {
        since.is_none_or(|since| run.at >= since) && !hook_figures::is_built_in(run.hook)
    };
    let hooks = hook_figures::known(&catalog);
    let is_recent = |answer: &QuestionAnswer<'_>| since.is_none_or(|since| answer.at >= since);
    let (figures, rules) = if args.all {
        let runs = || index.runs().filter(is_counted);
        (
            figures::compute(runs(), index.answers().filter(is_recent), &hooks),
            figures::rules(runs()),
        )
    } else {
        let runs = || index.runs_of(&root).filter(is_counted);
        let answers = index.answers_of(&root).filter(is_recent);
        (figures::compute(runs(), answers, &hooks), figures::rules(runs()))
    };
    if args.json {
        let mut output = json!({});
        if let Some(since) = since {
            output["since"] = rfc3339(since).into();
        }
        if !args.all {
            output["project"] = root.into();
        }
        output["hooks"] = figures.hooks.iter().map(hook_json).collect();
        output["rules"] = rules.iter().map(rule_json).collect();
        output["never_ran"] = json!(figures.never_ran);
        ui::json(&output);
    } else {
        show(&figures, &rules, since.is_some());
    }
    Exit::Done
}

/// Returns the figures of a rule as JSON. Times are in milliseconds.
fn rule_json(rule: &RuleFigures) -> Value {
    json!({
        "hook": rule.hook,
        "rule": rule.rule,
        "denied": rule.denials,
        "asked": rule.questions,
        "p95_ms": rule.durations.p95.as_millis(),
        "last": rfc3339(rule.last),
    })
}

/// Returns the figures of a hook as JSON. Times are in milliseconds, `share` is its share of the time that all hooks took, from 0 to
/// 1, and `exceeds_budget_ms` the budget that the p95 of its present content exceeds.
fn hook_json(hook: &HookFigures) -> Value {
    let mut object = json!({
        "name": hook.name,
        "runs": hook.runs,
        "denied": hook.denials,
        "asked": hook.questions.count,
        "answered_yes": hook.questions.allowed,
        "answered_no": hook.questions.refused,
        "unanswered": hook.questions.unanswered(),
        "would_stop": hook.would_stop,
        "failed": hook.failures,
        "timed_out": hook.timeouts,
        "share": hook.share,
        "total_ms": hook.total.as_millis(),
        "p50_ms": hook.durations.p50.as_millis(),
        "p95_ms": hook.durations.p95.as_millis(),
        "max_ms": hook.durations.max.as_millis(),
        "last": rfc3339(hook.last),
    });
    if let Some(over) = hook.over_budget {
        object["exceeds_budget_ms"] = json!(over.budget.as_millis());
    }
    object["slows_every_call"] = hook.slows_every_call.is_some().into();
    object
}

fn show(figures: &Figures, rules: &[RuleFigures], has_since: bool) {
    if figures.hooks.is_empty() {
        let since = if has_since { " since then" } else { "" };
        ui::note(format!("No hook ran{since}. `tenter hooks list` lists the hooks."));
    } else {
        hooks_table(&figures.hooks);
        rules_table(rules);
    }
    for hook in &figures.hooks {
        if hook.questions.count > 0 {
            let (name, questions) = (&hook.name, hook.questions);
            let count =
                if questions.count == 1 { "once" } else { &format!("{} times", questions.count) };
            note(&format!("The hook {name} asked {count}: {}.", questions.describe()));
        }
        if let Some(failures) = hook.describe_failures() {
            note(&format!(
                "{}: `tenter log --failed --hook {}`.",
                capitalize(&failures),
                hook.name
            ));
        }
        if let Some(over) = hook.over_budget {
            note(&format!("{}.", capitalize(&over.describe(&hook.name))));
        }
        if hook.would_stop > 0 {
            let (name, calls) = (&hook.name, hook.would_stop);
            note(&format!(
                "The hook {name} is in monitor mode: it would have stopped {calls} calls."
            ));
        }
        if let Some(median) = hook.slows_every_call {
            let name = &hook.name;
            note(&format!(
                "The hook {name} slows down every tool call: half of its runs take {} ms or more.",
                median.as_millis()
            ));
        }
    }
    if !figures.never_ran.is_empty() {
        let since = if has_since { "Did not run since then" } else { "Never ran" };
        let names = visible(&figures.never_ran.join(", ")).into_owned();
        ui::out(styled(FAINT, format!("{since}: {names}")));
    }
}

fn note(text: &str) {
    ui::out(styled(NOTICE, visible(text)));
}

fn hooks_table(hooks: &[HookFigures]) {
    const HEADINGS: [&str; 9] =
        ["hook", "runs", "denied", "asked", "failed", "share", "p50", "p95", "max"];
    let rows: Vec<[String; 9]> = hooks.iter().map(row).collect();
    let style = |index: usize, column: usize| {
        let hook = &hooks[index];
        match column {
            2 if hook.denials > 0 => Some(BAD),
            3 if hook.questions.count > 0 => Some(NOTICE),
            4 if hook.failures > 0 => Some(BAD),
            7 if hook.over_budget.is_some() => Some(NOTICE),
            _ => None,
        }
    };
    table(&HEADINGS, &rows, 1, style);
}

/// Maximum number of rules that are shown.
const MAX_RULES: usize = 10;

/// Prints the rules that stopped most calls.
fn rules_table(rules: &[RuleFigures]) {
    const HEADINGS: [&str; 5] = ["rule", "hook", "denied", "asked", "p95"];
    let row = |rule: &RuleFigures| {
        [
            one_line(&rule.rule, MAX_NAME),
            one_line(&rule.hook, MAX_NAME),
            rule.denials.to_string(),
            rule.questions.to_string(),
            format!("{} ms", rule.durations.p95.as_millis()),
        ]
    };
    let rows: Vec<[String; 5]> = rules.iter().take(MAX_RULES).map(row).collect();
    if !rows.is_empty() {
        ui::out("");
        table(&HEADINGS, &rows, 2, |_, _| None);
        ui::out("");
    }
}

/// Prints a table. The first columns, as many as `texts`, are aligned to the left.
fn table<const COLUMNS: usize>(
    headings: &[&str; COLUMNS],
    rows: &[[String; COLUMNS]],
    texts: usize,
    style: impl Fn(usize, usize) -> Option<Style>,
) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([headings[column].len()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let padded = |column: usize, cell: &str| {
        let width = widths[column];
        if column < texts { format!("{cell:width$}") } else { format!("{cell:>width$}") }
    };
    let heading: Vec<String> =
        headings.iter().enumerate().map(|(column, cell)| padded(column, cell)).collect();
    ui::out(styled(HEADING, heading.join("  ")));
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let cell = padded(column, cell);
            let style = style(index, column).or((column == 0).then_some(NAME));
            style.map_or(cell.clone(), |style| styled(style, cell))
        });
        ui::out(cells.collect::<Vec<_>>().join("  "));
    }
}

fn row(hook: &HookFigures) -> [String; 9] {
    let ms = |duration: Duration| format!("{} ms", duration.as_millis());
    [
        one_line(&hook.name, MAX_NAME),
        hook.runs.to_string(),
        hook.denials.to_string(),
        hook.questions.count.to_string(),
        hook.failures.to_string(),
        format!("{:.0} %", hook.share * 100.0),
        ms(hook.durations.p50),
        ms(hook.durations.p95),
        ms(hook.durations.max),
    ]
}
