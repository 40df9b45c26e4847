//! `tenter hooks stats`: the figures of hooks, from the journal.

use std::time::Duration;

use serde::Serialize;
use tenter_base::rfc3339;
use tenter_base::sanitize::{one_line, visible};
use tenter_inspect::figures::{self, Figures, HookFigures, Run};
use tenter_proc::Cancel;
use tenter_terminal::env;
use tenter_terminal::failure::Exit;
use tenter_terminal::ui::{self, BAD, FAINT, HEADING, NAME, NOTICE, styled};

use crate::hook_figures;
use crate::project::Project;
use crate::since::Since;

/// Maximum width of the column of names.
const MAX_NAME: usize = 48;

/// Show how often each hook ran, what it decided, and how long it took.
///
/// The figures are of this project, from the journal. Hooks that exceed their budget, hooks that slow down every tool call, and hooks
/// that never ran are listed below.
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

/// The JSON output.
#[derive(Serialize)]
struct StatsOutput<'f> {
    /// The earliest time of a counted run.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// `None` for all projects.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    hooks: Vec<HookOutput<'f>>,
    never_ran: &'f [String],
}

/// The figures of one hook, with the fields of the JSON output. Times are in milliseconds.
#[derive(Serialize)]
struct HookOutput<'f> {
    name: &'f str,
    runs: usize,
    denied: usize,
    failed: usize,
    timed_out: usize,
    /// Its share of the time that all hooks took, from 0 to 1.
    share: f64,
    total_ms: u128,
    p50_ms: u128,
    p95_ms: u128,
    max_ms: u128,
    /// When it ran last.
    last: String,
    /// Its budget, if the p95 of its present content exceeds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    exceeds_budget_ms: Option<u128>,
    /// True if it noticeably slows down every tool call.
    slows_every_call: bool,
}

pub(super) fn run(mut project: Project, args: &Args) -> Exit {
    let catalog = project.load(&Cancel::new());
    let since = args.since.map(|since| since.before(env::now()));
    let (index, unread) = hook_figures::read(&project.env.journals(), since);
    ui::diagnostics(&unread);
    let root = project.root().to_string_lossy().into_owned();
    let is_counted = |run: &Run<'_>| {
        since.is_none_or(|since| run.at >= since) && !hook_figures::is_built_in(run.hook)
    };
    let hooks = hook_figures::known(&catalog);
    let figures = if args.all {
        figures::of(index.runs().filter(is_counted), &hooks)
    } else {
        figures::of(index.runs_of(&root).filter(is_counted), &hooks)
    };
    if args.json {
        let output = StatsOutput {
            since: since.map(rfc3339),
            project: (!args.all).then_some(root),
            hooks: figures.hooks.iter().map(HookOutput::from).collect(),
            never_ran: &figures.never_ran,
        };
        ui::out(serde_json::to_string_pretty(&output).unwrap_or_default());
    } else {
        show(&figures, since.is_some());
    }
    Exit::Done
}

impl<'f> From<&'f HookFigures> for HookOutput<'f> {
    fn from(hook: &'f HookFigures) -> Self {
        Self {
            name: &hook.name,
            runs: hook.runs,
            denied: hook.denials,
            failed: hook.failures,
            timed_out: hook.timeouts,
            share: hook.share,
            total_ms: hook.total.as_millis(),
            p50_ms: hook.durations.p50.as_millis(),
            p95_ms: hook.durations.p95.as_millis(),
            max_ms: hook.durations.max.as_millis(),
            last: rfc3339(hook.last),
            exceeds_budget_ms: hook.over_budget.map(|over| over.budget.as_millis()),
            slows_every_call: hook.slows_every_call.is_some(),
        }
    }
}

fn show(figures: &Figures, has_since: bool) {
    if figures.hooks.is_empty() {
        let since = if has_since { " since then" } else { "" };
        ui::note(format!("No hook ran{since}. `tenter hooks list` lists the hooks."));
    } else {
        table(&figures.hooks);
    }
    for hook in &figures.hooks {
        if let Some(over) = hook.over_budget {
            note(&format!("{}.", sentence(&over.describe(&hook.name))));
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

/// `text` with a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn table(hooks: &[HookFigures]) {
    const HEADINGS: [&str; 8] = ["hook", "runs", "denied", "failed", "share", "p50", "p95", "max"];
    let rows: Vec<[String; 8]> = hooks.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([HEADINGS[column].len()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let line = |row: &[String; 8]| -> Vec<String> {
        let cells = row.iter().zip(&widths).enumerate();
        cells
            .map(
                |(column, (cell, width))| {
                    if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect()
    };
    ui::out(styled(HEADING, line(&HEADINGS.map(str::to_owned)).join("  ")));
    for (hook, row) in hooks.iter().zip(&rows) {
        let mut cells = line(row);
        cells[0] = styled(NAME, &cells[0]);
        for (column, is_notable) in [(2, hook.denials > 0), (3, hook.failures > 0)] {
            if is_notable {
                cells[column] = styled(BAD, &cells[column]);
            }
        }
        if hook.over_budget.is_some() {
            cells[6] = styled(NOTICE, &cells[6]);
        }
        ui::out(cells.join("  "));
    }
}

fn row(hook: &HookFigures) -> [String; 8] {
    let ms = |duration: Duration| format!("{} ms", duration.as_millis());
    [
        one_line(&hook.name, MAX_NAME),
        hook.runs.to_string(),
        hook.denials.to_string(),
        hook.failures.to_string(),
        format!("{:.0} %", hook.share * 100.0),
        ms(hook.durations.p50),
        ms(hook.durations.p95),
        ms(hook.durations.max),
    ]
}
