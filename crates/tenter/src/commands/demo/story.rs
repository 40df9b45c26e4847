//! The story of one tool call as lines of text: what the model wanted, what each hook saw and decided, what came of it.
//! Pure: it prints nothing, and it needs nothing but what happened.

use serde_json::Value;
use tenter_engine::{DecisionKind, HookRun};
use tenter_protocol::{EventName, ToolCall, ToolResult, json};

use crate::sanitize::{one_line, sanitize, visible};
use crate::ui::{self, BAD, FAINT, GOOD, NAME, NOTICE, styled};

/// Where what is said about a call begins.
const INDENT: usize = 9;
/// Where what is said about a hook's run begins.
const UNDER: usize = INDENT + 12;
/// Where the text beside a label begins: right of the columns for a hook and its event.
const BESIDE: usize = 30;
/// Characters of a tool's input that are shown.
const WANTED: usize = 80;
/// Characters of what a hook saw that are shown.
const SAW: usize = 34;
/// Characters on a line.
pub(super) const WIDTH: usize = 100;

/// One tool call and everything that happened to it.
pub(super) struct Story {
    /// The call as the model made it.
    pub(super) call: ToolCall,
    /// The hooks that ran, in order.
    pub(super) runs: Vec<HookRun>,
    /// What came of it; none while it is under way.
    pub(super) result: Option<ToolResult>,
}

impl Story {
    /// A story that begins.
    pub(super) fn new(call: &ToolCall) -> Self {
        Self { call: call.clone(), runs: Vec::new(), result: None }
    }

    /// The story as lines; empty while it is under way.
    pub(super) fn lines(&self) -> Vec<String> {
        let Some(result) = &self.result else { return Vec::new() };
        let (before, after): (Vec<&HookRun>, Vec<&HookRun>) =
            self.runs.iter().partition(|run| run.event == EventName::BeforeTool);
        let wanted = shown_input(&Value::Object(self.call.input.clone()));
        let title = format!("{}  {wanted}", styled(ui::HEADING, sanitize(&self.call.name)));
        let mut lines = vec![labelled("wants", &title)];
        lines.extend(before_lines(&before, &wanted));
        let found = found(&after).unwrap_or_else(|| result.clone());
        if found.is_blocked() {
            lines.push(beside("the tool did not run", ""));
        } else if found.text() != result.text() {
            lines.extend(text_lines("the tool found", &found.text()));
        }
        lines.extend(after_lines(&after, &found, result));
        lines.extend(text_lines("the model got", &result.text()));
        lines
    }
}

/// The hooks before the tool ran; each saw the input as those before it left it (R24).
fn before_lines(runs: &[&HookRun], wanted: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut saw = wanted.to_owned();
    for run in runs {
        lines.extend(hook_lines(run, &saw));
        if let Some(change) = &run.change {
            saw = shown_input(&change.after);
        }
    }
    if saw != wanted {
        lines.push(beside("what ran", &saw));
    }
    lines
}

/// The hooks after it; each saw the result as those before it left it.
fn after_lines(runs: &[&HookRun], found: &ToolResult, result: &ToolResult) -> Vec<String> {
    let telling = telling_line(&found.text(), &result.text());
    let mut lines = Vec::new();
    let mut saw = found.clone();
    for run in runs {
        lines.extend(hook_lines(run, &shown_result(&saw, telling)));
        saw = run.change.as_ref().and_then(|change| result_of(&change.after)).unwrap_or(saw);
    }
    lines
}

/// The result as the tool gave it, where a hook changed it.
fn found(after: &[&HookRun]) -> Option<ToolResult> {
    let change = after.iter().find_map(|run| run.change.as_ref())?;
    result_of(&change.before)
}

fn result_of(value: &Value) -> Option<ToolResult> {
    serde_json::from_value(value.clone()).ok()
}

/// The input on one line: of a command the command itself.
fn shown_input(input: &Value) -> String {
    let command = input.get("command").and_then(Value::as_str);
    one_line(&command.map_or_else(|| json::to_string(input), str::to_owned), WANTED)
}

/// The one line of a result that says most: the error, or the line numbered `telling`.
fn shown_result(result: &ToolResult, telling: usize) -> String {
    match &result.error {
        Some(error) => error.clone(),
        None => result.text().lines().nth(telling).unwrap_or_default().to_owned(),
    }
}

/// The number of the first line in which two texts differ; the first line of all where they do not.
fn telling_line(one: &str, other: &str) -> usize {
    one.lines().zip(other.lines()).position(|(one, other)| one != other).unwrap_or(0)
}

/// One run of a hook: who, at which event, what it saw, what it decided, how long it took; and why.
pub(super) fn hook_lines(run: &HookRun, saw: &str) -> Vec<String> {
    let (style, decided) = decided(run);
    let mut lines = vec![format!(
        "{:INDENT$}{}  {:<16}  saw {:<SAW$}  {} {}",
        "",
        styled(NAME, format!("{:<10}", visible(&run.hook))),
        run.spelling,
        one_line(saw, SAW),
        styled(style, format!("{decided:<14}")),
        styled(FAINT, format!("{:>6}", format!("{} ms", run.duration.as_millis()))),
    )];
    if matches!(run.decision, DecisionKind::Deny | DecisionKind::Failed)
        && let Some(reason) = &run.reason
    {
        lines.push(under_hook("because", reason));
    }
    if run.decision == DecisionKind::Failed
        && let Some(last) = run.stderr_tail.lines().last()
    {
        // Not cut: what it says last is often what it says at a line's end.
        lines.push(format!("{:UNDER$}{} {}", "", styled(FAINT, "stderr:"), sanitize(last)));
    }
    lines
}

/// A word and what it introduces, under a hook's row.
pub(super) fn under_hook(word: &str, text: &str) -> String {
    let room = WIDTH.saturating_sub(UNDER + word.len() + 1);
    format!("{:UNDER$}{} {}", "", styled(FAINT, word), one_line(text, room))
}

/// What a hook decided, in words that fit its event.
fn decided(run: &HookRun) -> (anstyle::Style, &'static str) {
    match (run.decision, run.event) {
        (DecisionKind::None | DecisionKind::Allow, EventName::BeforeTool) => {
            (GOOD, "· let it pass")
        }
        (DecisionKind::None | DecisionKind::Allow, EventName::BeforeStop) => {
            (GOOD, "· let it stop")
        }
        (DecisionKind::None | DecisionKind::Allow, _) => (GOOD, "· left as is"),
        (DecisionKind::Deny, _) => (BAD, "✗ blocked it"),
        (DecisionKind::Rewrite, _) => (NOTICE, "↻ changed it"),
        (DecisionKind::Continue, _) => (NOTICE, "↪ said: go on"),
        (DecisionKind::Failed, _) => (BAD, "! failed"),
        (other, _) => (NOTICE, other.as_str()),
    }
}

/// A label at the left, and what it introduces.
pub(super) fn labelled(label: &str, text: &str) -> String {
    format!("  {} {text}", styled(FAINT, format!("{label:<6}")))
}

fn beside(label: &str, text: &str) -> String {
    let pad = if text.is_empty() { 0 } else { BESIDE };
    format!("{:INDENT$}{}{text}", "", styled(FAINT, format!("{label:<pad$}")))
}

/// Text line by line beside its label.
fn text_lines(label: &str, text: &str) -> Vec<String> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let room = WIDTH - INDENT - BESIDE;
    text.lines().zip(labels).map(|(line, label)| beside(label, &one_line(line, room))).collect()
}
