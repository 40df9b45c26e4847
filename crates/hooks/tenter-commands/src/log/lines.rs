//! Records as lines for the user, in columns.

use anstyle::Style;
use serde_json::Value;
use tenter_base::{one_line, sanitize};
use tenter_bridge::hosts;
use tenter_engine::journal::{
    AnswerRecord, DecisionRecord, JournalLine, NoticeRecord, PermissionRecord, Record, RecordKind,
    RunRecord,
};
use tenter_engine::{DecisionKind, RewriteChange, RunEnd};
use tenter_protocol::lifecycle::{self, Power};
use tenter_protocol::{Object, call_summary, json};
use tenter_terminal::text::cut;
use tenter_terminal::{BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled, ui};

use super::csv;
use super::selection::SessionLine;
use crate::session_titles::SessionTitles;

/// Maximum number of characters shown of a reason or a rewrite.
const LENGTH: usize = 200;
/// Maximum number of characters shown of a title.
const TITLE: usize = 60;
/// Maximum number of characters shown of a column.
const COLUMN: usize = 40;

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogFormat {
    Text,
    Json,
    Csv,
}

/// A record, ready to be laid out.
pub(super) struct RecordView {
    /// The conversation whose journal it is in.
    session: String,
    /// The agent and the project that it is of.
    host: Option<String>,
    project: Option<String>,
    row: Option<RecordRow>,
    /// The lines below the row.
    below: Vec<String>,
}

impl RecordView {
    /// Checks whether it counts as a record of its own, instead of adding to those before it.
    pub(super) fn is_record(&self) -> bool {
        self.row.is_some()
    }
}

/// Time, event, hook and decision; then what has no column.
struct RecordRow {
    cells: [String; 4],
    decision: Style,
    tail: String,
}

/// Lays records out, one batch after another: columns are as wide as the widest cell so far.
pub(super) struct LogLayout {
    format: LogFormat,
    titles: Option<SessionTitles>,
    /// True if headings name the project.
    with_project: bool,
    /// The conversation of the last heading.
    session: Option<String>,
    /// True if the heading of the columns was printed, which only comma-separated values have.
    has_columns: bool,
    widths: [usize; 4],
}

impl LogLayout {
    pub(super) fn new(
        format: LogFormat,
        titles: Option<SessionTitles>,
        with_project: bool,
    ) -> Self {
        let (session, has_columns, widths) = (None, false, [0; 4]);
        Self { format, titles, with_project, session, has_columns, widths }
    }

    /// Returns the records as lines, under a heading for each session.
    pub(super) fn lines(&mut self, batch: &[RecordView]) -> Vec<String> {
        for row in batch.iter().filter_map(|line| line.row.as_ref()) {
            for (width, cell) in self.widths.iter_mut().zip(&row.cells) {
                *width = cell.chars().count().max(*width);
            }
        }
        let has_columns = std::mem::replace(&mut self.has_columns, true);
        let columns = (self.format == LogFormat::Csv && !has_columns).then(csv::heading);
        columns.into_iter().chain(batch.iter().flat_map(|line| self.record(line))).collect()
    }

    fn record(&mut self, view: &RecordView) -> Vec<String> {
        if self.format != LogFormat::Text {
            return view.below.clone();
        }
        let heading = self.heading(view);
        let row = view.row.as_ref().map(|row| self.row(row));
        heading.into_iter().chain(row).chain(view.below.iter().cloned()).collect()
    }

    fn heading(&mut self, view: &RecordView) -> Option<String> {
        if self.session.as_ref() == Some(&view.session) {
            return None;
        }
        self.session = Some(view.session.clone());
        let titles = self.titles.as_mut();
        let title = titles.and_then(|titles| titles.title(view.host.as_deref(), &view.session));
        let title = title.map(|title| one_line(&title, TITLE));
        let id = sanitize(&view.session).into_owned();
        let with_id = title.is_some().then(|| id.clone());
        let heading = title.unwrap_or_else(|| format!("conversation {id}"));
        let agent = view.host.as_deref().map_or("Tenter", agent_name);
        let project = view.project.as_deref().filter(|_| self.with_project);
        let project = project.map(|project| sanitize(project).into_owned());
        let about = [Some(one_line(agent, COLUMN)), project, with_id];
        let about: Vec<String> = about.into_iter().flatten().collect();
        Some(format!("{}  {}", styled(HEADING, heading), styled(FAINT, about.join(" · "))))
    }

    fn row(&self, row: &RecordRow) -> String {
        let [time, event, hook, decision] = &row.cells;
        let padded = |column: usize, cell: &str| {
            let padding = self.widths[column].saturating_sub(cell.chars().count());
            format!("{cell}{:padding$}", "")
        };
        let line = format!(
            "  {}  {}  {}  {}  {}",
            padded(0, time),
            padded(1, event),
            styled(NAME, padded(2, hook)),
            styled(row.decision, padded(3, decision)),
            row.tail
        );
        line.trim_end().to_owned()
    }
}

/// Returns a line of the journal as it is shown; `None` if it adds nothing to the records before it.
pub(super) fn view(of: &SessionLine, format: LogFormat) -> Option<RecordView> {
    let SessionLine { session, line: JournalLine { record, text } } = of;
    let (row, below) = match &record.kind {
        _ if format == LogFormat::Json => (Some(RecordRow::empty()), vec![text.clone()]),
        _ if format == LogFormat::Csv => (Some(RecordRow::empty()), vec![csv::record(of)?]),
        RecordKind::Run(run) => (Some(run_row(record, run)), run_lines(run)),
        RecordKind::Decision(decision) => (None, decision_lines(record, decision)),
        RecordKind::Answer(answer) => (None, vec![answer_line(record, answer)]),
        RecordKind::Permission(permission) => {
            (Some(permission_row(record, permission)), Vec::new())
        }
        RecordKind::Notice(notice) => (Some(notice_row(record, notice)), Vec::new()),
        RecordKind::Other(fields) => (Some(other_row(record, fields)), Vec::new()),
    };
    let says_something = row.is_some() || !below.is_empty();
    let (session, project) = (session.clone(), record.project.clone());
    let host = record.host.clone();
    says_something.then_some(RecordView { session, host, project, row, below })
}

/// Returns the name of an agent, such as `Claude Code` for `claude-code`.
fn agent_name(id: &str) -> &str {
    hosts::ALL.iter().find(|host| host.id == id).map_or(id, |host| host.name)
}

impl RecordRow {
    /// Returns a row that is not laid out.
    fn empty() -> Self {
        Self { cells: Default::default(), decision: FAINT, tail: String::new() }
    }

    fn new(
        record: &Record,
        hook: Option<&str>,
        (decision, style): (String, Style),
        parts: impl Iterator<Item = String>,
    ) -> Self {
        let hook = one_line(hook.unwrap_or_default(), COLUMN);
        let (time, event) = (ui::short_time(&record.time), one_line(&record.event, COLUMN));
        Self { cells: [time, event, hook, decision], decision: style, tail: join(record, parts) }
    }
}

fn run_row(record: &Record, run: &RunRecord) -> RecordRow {
    let decision = match run.would {
        Some(would) => (format!("would {}", would.as_str()), NOTICE),
        None => (run.decision.as_str().to_owned(), style(run.decision)),
    };
    RecordRow::new(record, Some(&run.hook), decision, run_parts(record, run))
}

fn notice_row(record: &Record, notice: &NoticeRecord) -> RecordRow {
    let text = one_line(&notice.text, LENGTH);
    let decision = ("notice".to_owned(), NOTICE);
    RecordRow::new(record, notice.hook.as_deref(), decision, [text].into_iter())
}

/// Returns whether a call had the user's permission, and who said so.
fn permission_row(record: &Record, permission: &PermissionRecord) -> RecordRow {
    let (word, style) = if permission.allowed { ("allow", FAINT) } else { ("deny", BAD) };
    let earlier = if permission.remembered { " (answered earlier)" } else { "" };
    let answer = permission.answer.as_deref();
    let reply = answer.map(|answer| format!("answer: {}{earlier}", one_line(answer, LENGTH)));
    let rules = permission.rules.iter().map(|rule| one_line(rule, LENGTH));
    let reason = permission.reason.as_deref().map(|reason| one_line(reason, LENGTH));
    let by = format!("by the {} in mode {}", permission.by, permission.mode);
    let parts = call(record).into_iter().chain([one_line(&by, LENGTH)]);
    let parts = parts.chain(reply).chain(rules).chain(reason);
    RecordRow::new(record, Some("permission"), (word.to_owned(), style), parts)
}

/// Returns the call, the other parts of the decision, the reason and the duration of a run.
fn run_parts(record: &Record, run: &RunRecord) -> impl Iterator<Item = String> {
    // The reason of a failure says how the process ended.
    let shows_end = run.decision != DecisionKind::Failed
        && !matches!(run.end, RunEnd::Exited(0) | RunEnd::NoProcess | RunEnd::Answered);
    let runtime = run.transport.map(|transport| styled(FAINT, transport.as_str()));
    let also = run.also.iter().map(|also| styled(style(*also), format!("+{}", also.as_str())));
    call(record)
        .into_iter()
        .chain(also)
        .chain(run.reason.as_ref().map(|reason| one_line(reason, LENGTH)))
        .chain(shows_end.then(|| styled(BAD, one_line(&run.end.to_string(), LENGTH))))
        .chain(runtime)
        .chain([styled(FAINT, format!("{} ms", run.duration.as_millis()))])
        .chain(record.is_newer().then(newer))
}

/// Returns the parts of a row that have no column; the parts of a subagent begin with that word.
fn join(record: &Record, parts: impl Iterator<Item = String>) -> String {
    let subagent = record.parent_conversation_id.as_ref().map(|_| styled(FAINT, "subagent"));
    subagent.into_iter().chain(parts).collect::<Vec<_>>().join(" · ")
}

/// Returns the tool call of a record in a few words.
fn call(record: &Record) -> Option<String> {
    let (tool, input) = (record.tool_name.as_ref()?, record.tool_input.as_ref()?);
    let name = hosts::tool_name(record.host.as_deref(), tool);
    Some(one_line(&format!("{name}: {}", call_summary(tool, input)), LENGTH))
}

/// Returns the lines about a run's changes, warnings, notes and output.
fn run_lines(run: &RunRecord) -> Vec<String> {
    let mut lines: Vec<String> = run.change.iter().flat_map(change_lines).collect();
    lines.extend(run.rule.iter().map(|rule| {
        let perhaps = if rule.is_certain { "" } else { " perhaps" };
        let (name, command) = (one_line(&rule.rule, LENGTH), one_line(&rule.text, LENGTH));
        styled(FAINT, format!("    rule {name} fits{perhaps}: {command}"))
    }));
    lines.extend(
        run.warnings
            .iter()
            .map(|warning| styled(NOTICE, format!("    ! {}", one_line(warning, LENGTH)))),
    );
    lines.extend(
        run.notes.iter().map(|note| styled(FAINT, format!("    · {}", one_line(note, LENGTH)))),
    );
    if !run.stdout.trim().is_empty() {
        let output = one_line(&run.stdout, LENGTH);
        lines.push(styled(FAINT, format!("    its stdout: {output:?}")));
    }
    lines.extend(run.stderr_tail.lines().map(|line| styled(FAINT, format!("    | {}", cut(line)))));
    lines
}

/// Returns the line with the answer to a hook's question.
fn answer_line(record: &Record, answer: &AnswerRecord) -> String {
    let hook = one_line(&answer.hook, LENGTH);
    let about = call(record).map_or_else(String::new, |call| format!(" about {call}"));
    let effect = if answer.allowed { "it may run" } else { "it does not run" };
    let earlier = if answer.remembered { " (answered earlier)" } else { "" };
    let words = one_line(&answer.answer, LENGTH);
    styled(FAINT, format!("    → {hook} asked{about}: {words}{earlier}; {effect}"))
}

fn change_lines(change: &RewriteChange) -> [String; 2] {
    let line = |word: &str, value: &Value| {
        format!("    {} {}", styled(FAINT, word), one_line(&json::to_string(value), LENGTH))
    };
    [line("from", &change.before), line("to  ", &change.after)]
}

/// Returns a decision, where it says more than the runs that it was made of.
fn decision_lines(record: &Record, decision: &DecisionRecord) -> Vec<String> {
    let event = one_line(&record.event, LENGTH);
    let by = decision
        .by
        .as_deref()
        .map_or_else(|| "an unknown hook".to_owned(), |hook| one_line(hook, LENGTH));
    let arrow = |text: String| styled(FAINT, format!("    → {text}"));
    let could_block =
        lifecycle::by_any_spelling(&record.event).iter().any(|event| event.may(Power::Block));
    let mut lines = Vec::new();
    lines.extend(decision.confined.as_ref().map(|fact| arrow(one_line(&fact.to_string(), LENGTH))));
    if decision.by_failure {
        // A hook that changed denies in every fail mode, so only the recorded reason says which it was (R75).
        let reason = decision.reason.as_deref().map(|reason| one_line(reason, LENGTH));
        let reason = reason.unwrap_or_else(|| format!("{by} failed"));
        lines.push(arrow(format!("{event} is denied: {reason}")));
    } else if decision.decision == DecisionKind::Deny && could_block {
        lines.push(arrow(format!("{event} is denied by {by}")));
    }
    for hook in &decision.overruled {
        let hook = one_line(hook, LENGTH);
        lines.push(arrow(format!("{hook} also wants to change the history; an earlier hook does")));
    }
    lines
}

/// Returns a record that this version does not know, as far as it knows the names of its fields.
fn other_row(record: &Record, fields: &Object) -> RecordRow {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let facts = [text("kind"), text("reason")].into_iter().flatten();
    let parts = facts.map(|text| one_line(text, LENGTH)).chain([newer()]);
    let decision = one_line(text("decision").unwrap_or_default(), COLUMN);
    RecordRow::new(record, text("hook"), (decision, FAINT), parts)
}

fn newer() -> String {
    styled(FAINT, "(another version wrote it; --json shows all of it)")
}

fn style(decision: DecisionKind) -> Style {
    match decision {
        DecisionKind::None => FAINT,
        DecisionKind::Allow => GOOD,
        DecisionKind::Deny | DecisionKind::Failed => BAD,
        DecisionKind::Context
        | DecisionKind::Continue
        | DecisionKind::Rewrite
        | DecisionKind::Callback
        | DecisionKind::Mutate
        | DecisionKind::Confine
        | DecisionKind::Ask => NOTICE,
    }
}
