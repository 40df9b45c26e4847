//! `tenter hooks list`: all hooks, and why some do not run.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use anstyle::Style;
use tenter_base::{one_line, sanitize, visible};
use tenter_engine::inspect::{Catalog, Status};
use tenter_engine::layout::HOOKS;
use tenter_proc::Cancel;
use tenter_protocol::EventName;
use tenter_terminal::text::prose;
use tenter_terminal::{BAD, CommandResult, Exit, FAINT, GOOD, HEADING, NAME, NOTICE, styled, ui};

use super::entry::{self, HookEntry};
use crate::project::Project;

/// Maximum width of a column.
const MAX_COLUMN_WIDTH: usize = 64;

/// List all hooks: active ones in the order they run, built-in ones last.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List only the hooks for this event, in any spelling.
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(mut project: Project, args: &Args) -> CommandResult {
    let events = args.event.as_deref().map(super::events_named).transpose()?;
    let catalog = project.load(&Cancel::new());
    let entries = entry::entries(&project, &catalog);
    let is_empty = entries.iter().all(HookEntry::is_built_in);
    let (choice, unknown) = match &events {
        Some(events) => subscribed(entries, events),
        None => (entries, Vec::new()),
    };
    if args.json {
        ui::json(&choice);
    } else if !choice.is_empty() {
        table(&project, &choice);
    }
    match &args.event {
        _ if is_empty => note_none(&project),
        Some(event) if choice.is_empty() => ui::note(format!("No hook subscribes to {event}.")),
        _ => {}
    }
    if !unknown.is_empty() {
        ui::note(format!(
            "Not listed, because their events are unknown: {}.",
            visible(&unknown.join(", "))
        ));
    }
    super::show_findings(&project);
    Ok(Exit::Done)
}

/// Lists the hooks of a loaded catalog.
pub fn show_catalog(project: &Project, catalog: &Catalog) {
    let entries = entry::entries(project, catalog);
    table(project, &entries);
    if entries.iter().all(HookEntry::is_built_in) {
        note_none(project);
    }
}

/// Returns the hooks that subscribe to one of `events`, and the names of those whose events are unknown.
fn subscribed<'c>(
    entries: Vec<HookEntry<'c>>,
    events: &[EventName],
) -> (Vec<HookEntry<'c>>, Vec<&'c str>) {
    let unknown =
        entries.iter().filter(|entry| entry.event.is_empty()).map(|entry| entry.name).collect();
    (entries.into_iter().filter(|entry| entry.subscribes_to(events)).collect(), unknown)
}

fn note_none(project: &Project) {
    ui::note("There are only built-in hooks. Hooks are searched for in");
    let (roots, _) = project.layout.roots(&HOOKS);
    for root in roots {
        ui::note(format!("  {}", visible(&root.dir.to_string_lossy())));
    }
    ui::note("To create one, run `tenter hooks new NAME`.");
}

/// Prints the table. Below a row: why a hook does not run, or what a built-in hook does.
fn table(project: &Project, entries: &[HookEntry]) {
    let rows: Vec<[String; 5]> = entries.iter().map(|entry| cells(project, entry)).collect();
    let heads = ["NAME", "EVENT", "LAYER", "STATUS", "PATH"];
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].len()]).max().unwrap_or_default()
    };
    let widths: [usize; 4] = std::array::from_fn(width);
    let whole = widths.iter().sum::<usize>() + 2 * widths.len() + width(4);
    // In a pipe, a table is easier to read for programs, however wide it is.
    let is_narrow = io::stdout().is_terminal() && whole > ui::columns();
    let mut lines = Vec::new();
    if !is_narrow {
        lines.push(line(&heads.map(str::to_owned), &widths, [HEADING; 5]));
    }
    for (entry, row) in entries.iter().zip(&rows) {
        let styles = [NAME, Style::new(), Style::new(), status_style(entry), Style::new()];
        if is_narrow {
            lines.extend(block(row, status_style(entry), ui::columns()));
        } else {
            lines.push(line(row, &widths, styles));
        }
        let script = entry.script.as_ref().filter(|_| entry.has_several_scripts);
        lines.extend(script.map(|script| styled(FAINT, format!("  it runs {}", visible(script)))));
        let about = entry.description.as_ref().filter(|_| entry.is_built_in());
        if let Some(reason) = entry.reason.as_ref().or(about) {
            let text = format!("it {}", sanitize(reason));
            let room = if is_narrow { ui::columns().saturating_sub(2) } else { usize::MAX };
            let about = prose(&text, room).into_iter();
            lines.extend(about.map(|line| styled(FAINT, format!("  {line}"))));
        }
    }
    // One write: one per line would take longer than finding the hooks.
    ui::out(lines.join("\n"));
}

/// Shows a row on a narrow terminal: the name and the status, and the rest below, as far as it fits.
fn block(
    [name, event, layer, status, path]: &[String; 5],
    style: Style,
    columns: usize,
) -> [String; 3] {
    let room = columns.saturating_sub(2).max(10);
    let name = one_line(name, room.saturating_sub(status.chars().count() + 2).max(10));
    [
        format!("{}  {}", styled(NAME, name), styled(style, status)),
        format!("  {}", one_line(&format!("{event} · {layer}"), room)),
        styled(FAINT, format!("  {}", path_end(path, room))),
    ]
}

/// Returns the end of a path, which says more than its beginning.
fn path_end(path: &str, room: usize) -> String {
    let length = path.chars().count();
    if length <= room {
        return path.to_owned();
    }
    let end: String = path.chars().skip(length - room + 1).collect();
    format!("…{end}")
}

fn cells(project: &Project, entry: &HookEntry) -> [String; 5] {
    let event = if entry.event.is_empty() { "-" } else { &entry.event };
    [
        one_line(&visible(entry.name), MAX_COLUMN_WIDTH),
        event.to_owned(),
        entry.layer.to_owned(),
        status(entry),
        visible(&entry.short_path(project)).into_owned(),
    ]
}

/// Returns the status, and how a runtime hook is called.
fn status(entry: &HookEntry) -> String {
    match entry.runtime {
        Some(runtime) => format!("{}, {runtime}", entry.status),
        None => entry.status.to_owned(),
    }
}

/// Returns one row. The last cell is not padded.
fn line(cells: &[String; 5], widths: &[usize; 4], styles: [Style; 5]) -> String {
    let mut line = String::new();
    for (column, (cell, style)) in cells.iter().zip(styles).enumerate() {
        let length = cell.chars().count();
        let padding = widths.get(column).map_or(0, |width| width.saturating_sub(length) + 2);
        let _ = write!(line, "{style}{cell}{style:#}{:padding$}", "");
    }
    line
}

fn status_style(entry: &HookEntry) -> Style {
    match entry.hook.map(|hook| &hook.status) {
        None if entry.active => GOOD,
        Some(Status::Active) => GOOD,
        Some(Status::Invalid { .. }) => BAD,
        Some(
            Status::NotTrusted { .. }
            | Status::WouldDisplace { .. }
            | Status::NotExecutable
            | Status::NoScript,
        ) => NOTICE,
        Some(Status::Shadowed { .. } | Status::Disabled | Status::SwitchedOff { .. }) | None => {
            FAINT
        }
    }
}
