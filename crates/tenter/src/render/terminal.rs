//! Shows an agent's work on a terminal: the model's text on stdout as it comes; tool calls and hooks on stderr.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenter_agent::session::{Finish, Status};
use tenter_agent::{SessionUpdate, Watcher};
use tenter_base::excerpt;
use tenter_engine::{AskAnswer, Decision, DecisionKind, HookRun, Notice, Observer};
use tenter_protocol::event::{TurnUsage, Usage};
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Diagnostic, EventName, Scope, ToolCall, ToolResult, json};

use super::open_calls::OpenCalls;
use super::{Show, live, status_words};
use crate::sanitize::{one_line, sanitize, visible};
use crate::ui::{self, BAD, FAINT, GOOD, NAME, NOTICE, styled};

/// Maximum number of lines shown of a tool's result.
const RESULT_LINES: usize = 8;
/// Maximum number of characters shown of a line.
const LINE_LENGTH: usize = 200;

/// Shows the work as it happens.
pub(crate) struct Terminal {
    /// Whether the stderr of successful hooks is shown (R43).
    debug: bool,
    state: Mutex<State>,
    failures: Failures,
}

/// The failures of hooks that were shown in full. A broken hook fails at every event, so its later failures are short.
#[derive(Default)]
pub(super) struct Failures(Mutex<HashSet<(String, String)>>);

impl Failures {
    /// The lines that show a failure: in full the first time, one line after that.
    pub(super) fn lines(&self, run: &HookRun) -> Vec<String> {
        let why = run.reason.clone().unwrap_or_else(|| run.end.to_string());
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.insert((run.hook.clone(), why.clone())) {
            return failed_lines(run);
        }
        let (mark, hook) = (styled(BAD, "!"), hook_name(run));
        vec![format!(
            "  {mark} hook {hook} failed again at {}: {}",
            run.event,
            one_line(&why, LINE_LENGTH)
        )]
    }
}

#[derive(Default)]
struct State {
    /// The position of the cursor.
    cursor: Cursor,
    /// Tokens sent to models, and how many of them a provider had cached.
    sent: u64,
    cached: u64,
    calls: OpenCalls,
    /// The reasons of blocked calls, which are shown before the result comes.
    shown_reasons: Vec<String>,
}

#[derive(Default, PartialEq, Eq)]
enum Cursor {
    /// At the beginning of a line.
    #[default]
    LineStart,
    /// At the end of a piece of the model's text.
    Text,
    /// At the end of a piece of the model's reasoning.
    Reasoning,
}

impl State {
    /// Ends an incomplete line.
    fn end_line(&mut self) {
        match std::mem::take(&mut self.cursor) {
            Cursor::LineStart => {}
            Cursor::Text => ui::out(""),
            Cursor::Reasoning => ui::note(""),
        }
    }
}

impl Terminal {
    /// A terminal; with `debug` it also shows what successful hooks write to stderr.
    pub(crate) fn new(debug: bool) -> Self {
        Self { debug, state: Mutex::default(), failures: Failures::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn text(&self, piece: &str) {
        let mut state = self.state();
        if state.cursor == Cursor::Reasoning {
            state.end_line();
        }
        ui::out_piece(sanitize(piece));
        state.cursor = if piece.ends_with('\n') { Cursor::LineStart } else { Cursor::Text };
    }

    /// Ends an incomplete line.
    pub(super) fn end_line(&self) {
        self.state().end_line();
    }

    /// Shows reasoning, indented because it is not part of the answer.
    fn reasoning(&self, piece: &str) {
        let mut state = self.state();
        if state.cursor == Cursor::Text {
            state.end_line();
        }
        let indent = if state.cursor == Cursor::LineStart { "  " } else { "" };
        let piece = sanitize(piece).replace('\n', "\n  ");
        ui::note_piece(styled(FAINT, format!("{indent}{piece}")));
        state.cursor = Cursor::Reasoning;
    }

    /// Shows lines together, after the end of an incomplete line.
    pub(crate) fn lines<T: std::fmt::Display>(&self, lines: impl IntoIterator<Item = T>) {
        let mut state = self.state();
        state.end_line();
        lines.into_iter().for_each(ui::note);
    }

    fn blocked(&self, call: Option<&str>, event: EventName, hook: &str, reason: &str) {
        self.lines([blocked_line(call, event, hook, reason)]);
        if matches!(event, EventName::BeforeTool | EventName::SubagentStart) {
            self.state().shown_reasons.push(reason.to_owned());
        }
    }

    /// Whether this is the result of a blocked call whose reason was shown already.
    fn was_shown_blocked(&self, result: &ToolResult) -> bool {
        let reason = result.metadata.as_ref().and_then(|metadata| metadata.get("reason"));
        let Some(reason) = reason.filter(|_| result.is_blocked()) else { return false };
        let shown_reasons = &mut self.state().shown_reasons;
        let shown = shown_reasons.iter().position(|shown| reason == shown);
        shown.map(|index| shown_reasons.swap_remove(index)).is_some()
    }

    fn count(&self, turn: &TurnUsage) {
        let mut state = self.state();
        state.sent += turn.input_tokens;
        state.cached += turn.cached_input_tokens;
    }

    fn summary(&self, scope: &Scope, status: &str, usage: &Usage) -> String {
        let state = self.state();
        let parts = [status_words(status).to_owned(), figures(usage, state.sent, state.cached)];
        let cost = usage.cost_usd.map(|cost| format!("${cost:.4}"));
        let conversation = format!("conversation {}", scope.conversation_id);
        let parts: Vec<String> = parts.into_iter().chain(cost).chain([conversation]).collect();
        styled(FAINT, parts.join(" · "))
    }
}

impl Terminal {
    /// A call was shown.
    pub(super) fn open(&self, scope: &Scope, call: &ToolCall) {
        self.state().calls.open(scope, call);
    }

    /// The lines of a result; none if it was shown as blocked.
    pub(super) fn result(&self, scope: &Scope, call_id: &str, result: &ToolResult) -> Vec<String> {
        let was_shown = self.was_shown_blocked(result);
        let mut state = self.state();
        let name = state.calls.name(scope, call_id);
        state.calls.close(scope, call_id);
        if was_shown { Vec::new() } else { result_lines_of(name.as_deref(), result) }
    }

    /// Shows an update, but not that something runs.
    pub(super) fn show(&self, scope: &Scope, update: &SessionUpdate) {
        let of_subagent = scope.parent_conversation_id.is_some();
        match update {
            SessionUpdate::TextDelta(piece) if !of_subagent => self.text(piece),
            SessionUpdate::Text(_) if !of_subagent => self.lines([] as [&str; 0]),
            SessionUpdate::Text(text) => {
                self.lines([styled(FAINT, format!("  subagent: {}", one_line(text, LINE_LENGTH)))]);
            }
            SessionUpdate::ReasoningDelta(piece) if !of_subagent => self.reasoning(piece),
            SessionUpdate::Reasoning(text) if of_subagent => {
                self.lines([styled(FAINT, format!("  {}", one_line(text, LINE_LENGTH)))]);
            }
            SessionUpdate::Retry { attempt, of, after, reason, discarded } => {
                let restart = discarded
                    .then(|| styled(NOTICE, "  the partial answer is discarded; it starts again"));
                self.lines(
                    [retry_line((*attempt, *of), *after, reason)].into_iter().chain(restart),
                );
            }
            SessionUpdate::Usage(usage) => self.count(&usage.turn),
            SessionUpdate::ToolUse(call) => {
                self.lines([call_line(call, of_subagent)]);
                self.open(scope, call);
            }
            SessionUpdate::ToolResult { call_id, result } => {
                self.lines(self.result(scope, call_id, result));
            }
            SessionUpdate::Blocked { event, hook, reason, call_id } => {
                let name = call_id.and_then(|id| self.state().calls.name(scope, id));
                self.blocked(name.as_deref(), *event, hook, reason);
            }
            SessionUpdate::FollowUp { hook, text } => self.lines([format!(
                "{} hook {} continues with: {}",
                styled(NOTICE, "↪"),
                styled(NAME, visible(hook)),
                sanitize(text)
            )]),
            SessionUpdate::Recipe { recipe, .. } => self.lines([format!(
                "{} running the recipe {} on the conversation …",
                styled(NOTICE, "↻"),
                styled(NAME, visible(recipe)),
            )]),
            SessionUpdate::History { kind, by, recipe, before, after } => self.lines([format!(
                "{} {} {} replaced the history ({kind}): {before} messages became {after}",
                styled(NOTICE, "↻"),
                if recipe.is_some() { "the recipe" } else { "hook" },
                styled(NAME, visible(recipe.unwrap_or(by))),
            )]),
            SessionUpdate::Diagnostic(finding) => {
                self.lines([] as [&str; 0]);
                ui::diagnostics([*finding]);
            }
            SessionUpdate::Ended { usage, status, .. } if !of_subagent => {
                self.lines([self.summary(scope, status, usage)]);
            }
            _ => {}
        }
    }
}

impl Watcher for Terminal {
    fn on_update(&self, scope: &Scope, update: &SessionUpdate) {
        live::on_update(scope, update);
        self.show(scope, update);
    }
}

impl Observer for Terminal {
    fn hook_started(&self, run: &HookRun) {
        live::hook_started(run);
    }

    fn hook_stopped(&self, run: &HookRun) {
        live::hook_stopped(run);
    }

    fn hook_ran(&self, run: &HookRun) {
        match run.decision {
            DecisionKind::Failed => self.lines(self.failures.lines(run)),
            DecisionKind::Rewrite => self.lines(rewrite_lines(run)),
            DecisionKind::Context => self.lines([format!(
                "  {} hook {} added context",
                styled(NOTICE, "+"),
                hook_name(run)
            )]),
            _ => {}
        }
        if !run.warnings.is_empty() {
            self.lines(warning_lines(run));
        }
        if self.debug && run.decision != DecisionKind::Failed && !run.stderr_tail.is_empty() {
            let line = |line: &str| styled(FAINT, format!("  {}: {}", run.hook, sanitize(line)));
            self.lines(run.stderr_tail.lines().map(line));
        }
    }

    fn decided(&self, _decision: &Decision) {}

    fn ask_answered(&self, _answer: &AskAnswer) {}

    fn noticed(&self, notice: &Notice) {
        self.lines([notice_line(notice)]);
    }
}

/// The line that shows a notice.
pub(super) fn notice_line(notice: &Notice) -> String {
    let text = sanitize(&notice.text);
    match &notice.hook {
        Some(hook) => format!("  {} hook {}: {text}", styled(NOTICE, "i"), visible(hook)),
        None => format!("  {} {text}", styled(NOTICE, "i")),
    }
}

impl Show for Terminal {
    fn finding(&self, finding: &Diagnostic) {
        ui::diagnostics([finding]);
    }

    fn finished(&self, finish: &Finish) {
        match finish.status {
            Status::MaxTurns => self.lines([styled(
                NOTICE,
                "stopped at the turn limit; continue with: tenter run --follow …",
            )]),
            Status::Interrupted => {
                self.lines([styled(NOTICE, "interrupted; continue with: tenter run --follow …")]);
            }
            _ => {}
        }
    }
}

/// The line for a blocked event, or for a call with a name that is blocked.
pub(super) fn blocked_line(
    call: Option<&str>,
    event: EventName,
    hook: &str,
    reason: &str,
) -> String {
    let (mark, hook, reason) = (styled(BAD, "✗"), styled(NAME, visible(hook)), sanitize(reason));
    let call = call.map_or_else(String::new, |call| format!("{call}: "));
    format!("  {mark} {call}blocked by hook {hook} at {event}: {reason}")
}

/// The lines for a hook's failure (R42).
fn failed_lines(run: &HookRun) -> Vec<String> {
    let why = run.reason.clone().unwrap_or_else(|| run.end.to_string());
    let why = sanitize(&why);
    let mut lines = vec![format!(
        "  {} hook {} failed at {}: {why}",
        styled(BAD, "!"),
        hook_name(run),
        run.event
    )];
    if !run.stdout.trim().is_empty() {
        let quoted = one_line(&run.stdout, LINE_LENGTH);
        lines.push(styled(FAINT, format!("    its stdout: {quoted:?}")));
    }
    let tail = excerpt::last_lines(&run.stderr_tail, RESULT_LINES).lines();
    lines.extend(tail.map(|line| styled(FAINT, format!("    {}", sanitize(line)))));
    lines
}

/// The lines for the unusable parts of a hook's reply, which may have been meant to block something (R27).
pub(super) fn warning_lines(run: &HookRun) -> Vec<String> {
    let line = |warning: &String| {
        let (hook, event) = (hook_name(run), run.event);
        format!("  {} hook {hook} at {event}: {}", styled(NOTICE, "!"), sanitize(warning))
    };
    run.warnings.iter().map(line).collect()
}

/// The lines for what a hook changed. The original of a tool's output is not shown, since it may hold what the hook removed
/// (R25).
fn rewrite_lines(run: &HookRun) -> Vec<String> {
    let mut lines = vec![format!(
        "  {} hook {} changed it at {}",
        styled(NOTICE, "↻"),
        hook_name(run),
        run.event
    )];
    let is_output = run.event.may(Power::RewriteOutput);
    if let Some(change) = run.change.as_ref().filter(|_| !is_output) {
        let shown = |value: &serde_json::Value| one_line(&json::to_string(value), LINE_LENGTH);
        lines.push(format!("    {} {}", styled(FAINT, "from"), shown(&change.before)));
        lines.push(format!("    {} {}", styled(FAINT, "to  "), shown(&change.after)));
    }
    lines
}

fn hook_name(run: &HookRun) -> String {
    styled(NAME, visible(&run.hook))
}

/// A tool call on one line.
pub(crate) fn call_line(call: &ToolCall, of_subagent: bool) -> String {
    let input = one_line(&json::to_string(&call.input), LINE_LENGTH);
    let indent = if of_subagent { "  " } else { "" };
    format!("{indent}{} {} {}", styled(NAME, "●"), styled(ui::HEADING, visible(&call.name)), input)
}

/// The first lines of a tool's result.
pub(crate) fn result_lines(result: &ToolResult) -> Vec<String> {
    result_lines_of(None, result)
}

/// The first lines of the result of a call, which may have a name.
fn result_lines_of(call: Option<&str>, result: &ToolResult) -> Vec<String> {
    let mark = if result.is_failure() { styled(BAD, "✗") } else { styled(GOOD, "✓") };
    let text = plain_text(result);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let call = call.map_or_else(String::new, |call| format!("{}: ", styled(FAINT, call)));
    let mut shown = vec![format!("  {mark} {call}{}", one_line(first, LINE_LENGTH))];
    shown.extend(lines.by_ref().take(RESULT_LINES - 1).map(|line| format!("    {}", cut(line))));
    let left = lines.count();
    if left > 0 {
        shown.push(styled(FAINT, format!("    … {left} more lines")));
    }
    shown
}

/// The text of a result without the tags that mark an error for the model.
fn plain_text(result: &ToolResult) -> String {
    let text = result.text();
    match &result.error {
        Some(error) => text.replacen(&format!("<error>{error}</error>"), error, 1),
        None => text,
    }
}

/// A sanitised line with its indentation, cut to [`LINE_LENGTH`] characters.
pub(crate) fn cut(line: &str) -> String {
    excerpt::chars(&sanitize(line), LINE_LENGTH).into_owned()
}

/// The tokens of the conversation, and which share of this run's input a provider had cached.
fn figures(usage: &Usage, sent: u64, cached: u64) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let share = (cached * 100).checked_div(sent).filter(|share| *share > 0);
    let share = share.map_or_else(String::new, |share| format!(" ({share}% cached)"));
    format!("{about}{} tokens in{share}, {} out", usage.input_tokens, usage.output_tokens)
}

/// The line for a retry: the reason, the pause, and the number of the attempt.
pub(super) fn retry_line((attempt, of): (u32, u32), after: Duration, reason: &str) -> String {
    let after = match after.as_secs_f64().round() {
        seconds if seconds >= 1.0 => format!("{seconds} s"),
        _ => format!("{} ms", after.as_millis()),
    };
    format!(
        "{} {}; retrying in {after} (attempt {attempt} of {of})",
        styled(NOTICE, "↻"),
        sanitize(reason)
    )
}
