//! A record as lines for a person.

use std::io;

use anstyle::Style;
use serde_json::Value;
use tenter_engine::DecisionKind;
use tenter_engine::builtin::NO_PROCESS;
use tenter_engine::journal::{AnswerRecord, DecisionRecord, Line, Record, RecordKind, RunRecord};
use tenter_engine::observe::Change;
use tenter_protocol::lifecycle::{self, Power};
use tenter_protocol::{Object, json};

use crate::render::{call_summary, cut};
use crate::sanitize::{one_line, sanitize};
use crate::ui::{self, BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled};

/// Characters of a reason or a rewrite that are shown.
const LENGTH: usize = 200;

/// Shows records, one after another.
pub(super) struct Show {
    /// Whether as they stand in the journal.
    json: bool,
    /// The conversation under whose heading the last record stands.
    conversation: Option<String>,
}

impl Show {
    pub(super) fn new(json: bool) -> Self {
        Self { json, conversation: None }
    }

    /// Shows a record; fails when nobody reads it any more.
    pub(super) fn line(&mut self, line: &Line) -> io::Result<()> {
        if self.json {
            return ui::try_out(&line.text);
        }
        let lines = lines(&line.record);
        if !lines.is_empty() {
            self.heading(&line.record)?;
        }
        lines.iter().try_for_each(ui::try_out)
    }

    fn heading(&mut self, record: &Record) -> io::Result<()> {
        let of = record.parent_conversation_id.as_ref().unwrap_or(&record.conversation_id);
        if self.conversation.as_ref() == Some(of) {
            return Ok(());
        }
        self.conversation = Some(of.clone());
        ui::try_out(styled(HEADING, format!("conversation {}", sanitize(of))))
    }
}

fn lines(record: &Record) -> Vec<String> {
    match &record.kind {
        RecordKind::Run(run) => run_lines(record, run),
        RecordKind::Decision(decision) => decision_lines(record, decision),
        RecordKind::Answer(answer) => vec![answer_line(answer)],
        RecordKind::Other(fields) => vec![other_line(record, fields)],
    }
}

/// What every line begins with, and the event as `event` says it.
fn begin(record: &Record, event: &str) -> Vec<String> {
    let mut parts = vec![format!("  {}", ui::short_time(&record.time)), one_line(event, LENGTH)];
    if record.parent_conversation_id.is_some() {
        parts.push(styled(FAINT, "subagent"));
    }
    parts
}

/// The tool call that a record is about, in a few words.
fn call(record: &Record) -> Option<String> {
    let (tool, input) = (record.tool_name.as_ref()?, record.tool_input.as_ref()?);
    Some(one_line(&format!("{tool}: {}", call_summary(tool, input)), LENGTH))
}

fn run_lines(record: &Record, run: &RunRecord) -> Vec<String> {
    let event = if run.spelling == record.event {
        run.spelling.clone()
    } else {
        format!("{} ({})", record.event, run.spelling)
    };
    let mut parts = begin(record, &event);
    parts.push(styled(NAME, one_line(&run.hook, LENGTH)));
    parts.push(styled(style(run.decision), run.decision.as_str()));
    parts.extend(run.also.iter().map(|also| styled(style(*also), format!("+{}", also.as_str()))));
    parts.extend(call(record));
    parts.extend(run.reason.as_ref().map(|reason| one_line(reason, LENGTH)));
    parts.push(styled(FAINT, format!("{} ms", run.duration_ms)));
    if !["exit 0", NO_PROCESS].contains(&run.exit.as_str()) {
        parts.push(styled(BAD, one_line(&run.exit, LENGTH)));
    }
    if record.is_newer() {
        parts.push(newer());
    }
    let mut lines = vec![parts.join("  ")];
    lines.extend(run.rewrite.iter().flat_map(change_lines));
    lines.extend(
        run.warnings
            .iter()
            .map(|warning| styled(NOTICE, format!("    ! {}", one_line(warning, LENGTH)))),
    );
    lines.extend(
        run.notes.iter().map(|note| styled(FAINT, format!("    · {}", one_line(note, LENGTH)))),
    );
    if !run.stdout.trim().is_empty() {
        let quoted = one_line(&run.stdout, LENGTH);
        lines.push(styled(FAINT, format!("    its stdout: {quoted:?}")));
    }
    lines.extend(run.stderr.lines().map(|line| styled(FAINT, format!("    | {}", cut(line)))));
    lines
}

/// How a hook's question was answered.
fn answer_line(answer: &AnswerRecord) -> String {
    let hook = one_line(&answer.hook, LENGTH);
    let effect = if answer.allowed { "it may run" } else { "it does not run" };
    let earlier = if answer.remembered { " (answered earlier)" } else { "" };
    let words = one_line(&answer.answer, LENGTH);
    styled(FAINT, format!("    → {hook} asked: {words}{earlier}; {effect}"))
}

fn change_lines(change: &Change) -> [String; 2] {
    let line = |word: &str, value: &Value| {
        format!("    {} {}", styled(FAINT, word), one_line(&json::to_string(value), LENGTH))
    };
    [line("from", &change.before), line("to  ", &change.after)]
}

/// A decision, where it says more than the runs that it was made of.
fn decision_lines(record: &Record, decision: &DecisionRecord) -> Vec<String> {
    let event = one_line(&record.event, LENGTH);
    let by =
        decision.by.as_deref().map_or_else(|| "nobody".to_owned(), |hook| one_line(hook, LENGTH));
    let said = |text: String| styled(FAINT, format!("    → {text}"));
    let could_block =
        lifecycle::by_any_spelling(&record.event).iter().any(|event| event.may(Power::Block));
    let mut lines = Vec::new();
    if decision.by_failure {
        lines
            .push(said(format!("{event} is denied because {by} failed and is set to fail closed")));
    } else if decision.decision == DecisionKind::Deny && could_block {
        lines.push(said(format!("{event} is denied by {by}")));
    }
    for hook in &decision.overruled {
        let hook = one_line(hook, LENGTH);
        lines.push(said(format!("{hook} wants to change the history, too, and comes too late")));
    }
    lines
}

/// What this version does not know, as far as its fields have names that it knows.
fn other_line(record: &Record, fields: &Object) -> String {
    let mut parts = begin(record, &record.event);
    let known =
        ["kind", "hook", "decision", "reason"].map(|key| fields.get(key).and_then(Value::as_str));
    parts.extend(known.into_iter().flatten().map(|text| one_line(text, LENGTH)));
    parts.push(newer());
    parts.join("  ")
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
        | DecisionKind::Ask => NOTICE,
    }
}
