//! Shows an agent's work on a terminal: the model's text on stdout as it comes; tool calls and hooks on stderr.

use std::fmt::Display;
use std::path::Path;
use std::sync::Mutex;

use tenter_agent::session::{Finish, Status};
use tenter_agent::{SessionUpdate, Watcher};
use tenter_base::{lock, one_line, sanitize, visible};
use tenter_engine::{DecisionKind, HookRun, Notice, Observer};
use tenter_protocol::event::{TurnUsage, Usage};
use tenter_protocol::{EventName, Scope, ToolCall, ToolResult};
use tenter_terminal::screen::screen;
use tenter_terminal::text::{LINE_LENGTH, Markdown, hanging};
use tenter_terminal::{FAINT, NAME, NOTICE, styled, ui};

use super::changes::FileChanges;
use super::lines::{
    Failures, blocked_line, call_line, figures, folded_lines, hook_name, notice_line,
    result_lines_of, retry_line, rewrite_lines, short_call_line, warning_lines,
};
use super::open_calls::OpenCalls;
use super::{Show, live, status_words};

/// Shows the work as it happens.
pub(crate) struct Terminal {
    /// True if the stderr of successful hooks is shown (R43).
    debug: bool,
    state: Mutex<DisplayState>,
    failures: Failures,
}

#[derive(Default)]
struct DisplayState {
    /// With the changes of files, the text is rendered and calls are short. Without, everything is shown as it is.
    changes: Option<FileChanges>,
    /// The text that is not complete yet, if it is rendered.
    markdown: Markdown,
    /// True if a part of a text was shown that is not complete yet.
    is_in_text: bool,
    /// The part that was shown last.
    last: ShownPart,
    /// The position of the cursor.
    cursor: Cursor,
    /// Tokens sent to models, and how many of them a provider had cached.
    sent_tokens: u64,
    cached_tokens: u64,
    calls: OpenCalls,
    /// The newest output that was not shown in full, if it can be shown later.
    folded_output: Option<Vec<String>>,
    /// The reasons of blocked calls, which are shown before the result comes.
    shown_reasons: Vec<String>,
}

/// A part of the output. An empty line separates text from everything else.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum ShownPart {
    #[default]
    Nothing,
    Text,
    Lines,
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

impl DisplayState {
    /// Ends an incomplete line.
    fn end_line(&mut self) {
        match std::mem::take(&mut self.cursor) {
            Cursor::LineStart => {}
            Cursor::Text => ui::out(""),
            Cursor::Reasoning => ui::note(""),
        }
    }

    /// Begins a part, after an empty line if the last one was another.
    fn begin(&mut self, part: ShownPart) {
        self.end_line();
        let last = std::mem::replace(&mut self.last, part);
        if self.changes.is_some() && last != part && last != ShownPart::Nothing {
            ui::note("");
        }
    }

    /// Shows a piece of text as Markdown: its complete blocks, and below them the rest.
    fn render(&mut self, piece: &str) {
        if !self.is_in_text && !piece.trim().is_empty() {
            self.begin(ShownPart::Text);
            self.is_in_text = true;
        }
        let complete = self.markdown.push(piece, ui::columns());
        let rest = self.markdown.clone();
        screen().show_text(&complete, move |columns| rest.pending(columns));
    }

    /// Ends the text.
    fn end_text(&mut self) {
        if self.changes.is_some() {
            let rest = self.markdown.finish(ui::columns());
            screen().show_text(&rest, |_| String::new());
            self.is_in_text = false;
        }
        self.end_line();
    }

    /// Drops the incomplete text.
    fn discard_text(&mut self) {
        self.markdown.discard();
        self.end_text();
        self.last = ShownPart::Nothing; // the empty line before the text is there already
    }
}

impl Terminal {
    /// Returns a terminal that shows text and calls as they are; with `debug` it also shows what successful hooks write to
    /// stderr.
    pub(crate) fn raw(debug: bool) -> Self {
        Self { debug, state: Mutex::default(), failures: Failures::default() }
    }

    /// Returns a terminal that shows text as Markdown, short calls, and the changes of files in `project`.
    pub(crate) fn with_markdown(debug: bool, project: &Path) -> Self {
        let changes = Some(FileChanges::new(project));
        let state = Mutex::new(DisplayState { changes, ..DisplayState::default() });
        Self { debug, state, failures: Failures::default() }
    }

    /// As [`with_markdown`](Self::with_markdown), for a chat: folded output can be shown later.
    pub(crate) fn in_chat(debug: bool, project: &Path) -> Self {
        let terminal = Self::with_markdown(debug, project);
        lock(&terminal.state).folded_output = Some(Vec::new());
        terminal
    }

    /// Returns the lines of the newest output that was not shown in full.
    pub(super) fn list_folded(&self) -> Vec<String> {
        match lock(&self.state).folded_output.clone() {
            Some(lines) if !lines.is_empty() => lines,
            _ => vec![styled(FAINT, "no output was folded")],
        }
    }

    /// Begins the work on a message.
    pub(super) fn begin(&self) {
        lock(&self.state).last = ShownPart::Nothing;
    }

    fn text(&self, piece: &str) {
        let mut state = lock(&self.state);
        if state.changes.is_some() {
            return state.render(piece);
        }
        if state.cursor == Cursor::Reasoning {
            state.end_line();
        }
        ui::out_piece(sanitize(piece));
        state.cursor = if piece.ends_with('\n') { Cursor::LineStart } else { Cursor::Text };
    }

    /// Shows reasoning, indented because it is not part of the answer.
    fn reasoning(&self, piece: &str) {
        let mut state = lock(&self.state);
        if state.cursor != Cursor::Reasoning {
            state.end_text();
            state.begin(ShownPart::Lines);
        }
        let indent = if state.cursor == Cursor::LineStart { "  " } else { "" };
        let piece = sanitize(piece).replace('\n', "\n  ");
        ui::note_piece(styled(FAINT, format!("{indent}{piece}")));
        state.cursor = Cursor::Reasoning;
    }

    /// Shows lines together, after the end of the text.
    pub(crate) fn lines<T: Display>(&self, lines: impl IntoIterator<Item = T>) {
        let mut state = lock(&self.state);
        state.end_text();
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_some() {
            state.begin(ShownPart::Lines);
        }
        lines.for_each(ui::note);
    }

    /// Shows the last lines, which comment on the text.
    pub(super) fn last_lines<T: Display>(&self, lines: impl IntoIterator<Item = T>) {
        lock(&self.state).end_text();
        lines.into_iter().for_each(ui::note);
    }

    /// Shows lines that may come at any time. They do not end a text that is rendered.
    fn notes<T: Display>(&self, lines: impl IntoIterator<Item = T>) {
        let state = lock(&self.state);
        if state.is_in_text {
            return lines.into_iter().for_each(ui::note);
        }
        drop(state);
        self.prose(lines);
    }

    /// Shows lines; in a chat, long ones are broken between words.
    fn prose<T: Display>(&self, lines: impl IntoIterator<Item = T>) {
        if lock(&self.state).changes.is_none() {
            return self.lines(lines);
        }
        let columns = ui::columns();
        self.lines(lines.into_iter().flat_map(|line| hanging(&line.to_string(), columns)));
    }

    fn blocked(&self, call: Option<&str>, event: EventName, hook: &str, reason: &str) {
        self.prose([blocked_line(call, event, hook, reason)]);
        if matches!(event, EventName::BeforeTool | EventName::SubagentStart) {
            lock(&self.state).shown_reasons.push(reason.to_owned());
        }
    }

    /// Checks whether this is the result of a blocked call whose reason was shown already.
    fn was_shown_blocked(&self, result: &ToolResult) -> bool {
        let reason = result.metadata.as_ref().and_then(|metadata| metadata.get("reason"));
        let Some(reason) = reason.filter(|_| result.is_blocked()) else { return false };
        let shown_reasons = &mut lock(&self.state).shown_reasons;
        let place = shown_reasons.iter().position(|other| reason == other);
        place.map(|index| shown_reasons.swap_remove(index)).is_some()
    }

    fn count(&self, turn: &TurnUsage) {
        let mut state = lock(&self.state);
        state.sent_tokens += turn.input_tokens;
        state.cached_tokens += turn.cached_input_tokens;
    }

    fn summary(&self, scope: &Scope, status: &str, usage: &Usage) -> String {
        let state = lock(&self.state);
        let parts = [
            status_words(status).to_owned(),
            figures(usage, state.sent_tokens, state.cached_tokens),
        ];
        let cost = usage.cost_usd.map(|cost| format!("${cost:.4}"));
        let conversation = format!("conversation {}", scope.conversation_id);
        let parts: Vec<String> = parts.into_iter().chain(cost).chain([conversation]).collect();
        styled(FAINT, parts.join(" · "))
    }
}

impl Terminal {
    /// Shows a call before it runs.
    fn call(&self, scope: &Scope, call: &ToolCall) {
        let is_subagent = scope.parent_conversation_id.is_some();
        let line = match lock(&self.state).changes.as_mut() {
            Some(changes) => {
                changes.open(scope, call);
                short_call_line(call, is_subagent)
            }
            None => call_line(call, is_subagent),
        };
        self.lines([line]);
        lock(&self.state).calls.open(scope, call);
    }

    /// Returns the lines of a result; none if it was shown as blocked.
    fn result(&self, scope: &Scope, call_id: &str, result: &ToolResult) -> Vec<String> {
        let was_shown = self.was_shown_blocked(result);
        let mut state = lock(&self.state);
        let name = state.calls.name(scope, call_id);
        state.calls.close(scope, call_id);
        let diff = state.changes.as_mut().map(|changes| changes.close(scope, call_id, result));
        if was_shown {
            return Vec::new();
        }
        let mut lines = result_lines_of(name.as_deref(), result);
        if let Some(folded) = state.folded_output.as_mut()
            && let Some(whole) = folded_lines(result)
        {
            *folded = whole;
            let more = lines.pop().map(|more| format!("{more}{}", styled(FAINT, ": Ctrl-O")));
            lines.extend(more);
        }
        lines.into_iter().chain(diff.into_iter().flatten()).collect()
    }

    /// Shows an update, but not that something runs.
    fn show(&self, scope: &Scope, update: &SessionUpdate) {
        let is_subagent = scope.parent_conversation_id.is_some();
        match update {
            SessionUpdate::TextDelta(piece) if !is_subagent => self.text(piece),
            SessionUpdate::Text(_) if !is_subagent => self.lines([] as [&str; 0]),
            SessionUpdate::Text(text) => {
                self.lines([styled(FAINT, format!("  subagent: {}", one_line(text, LINE_LENGTH)))]);
            }
            SessionUpdate::ReasoningDelta(piece) if !is_subagent => self.reasoning(piece),
            SessionUpdate::Reasoning(text) if is_subagent => {
                self.lines([styled(FAINT, format!("  {}", one_line(text, LINE_LENGTH)))]);
            }
            SessionUpdate::Retry { attempt, of, after, reason, discarded } => {
                if *discarded && !is_subagent {
                    lock(&self.state).discard_text();
                }
                let restart = discarded
                    .then(|| styled(NOTICE, "  the partial answer is discarded; it starts again"));
                self.lines(
                    [retry_line((*attempt, *of), *after, reason)].into_iter().chain(restart),
                );
            }
            SessionUpdate::Usage(usage) => self.count(&usage.turn),
            SessionUpdate::ToolUse(call) => self.call(scope, call),
            SessionUpdate::ToolResult { call_id, result } => {
                self.lines(self.result(scope, call_id, result));
            }
            SessionUpdate::Blocked { event, hook, reason, call_id } => {
                let name = call_id.and_then(|id| lock(&self.state).calls.name(scope, id));
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
                lock(&self.state).end_text();
                lock(&self.state).begin(ShownPart::Lines);
                ui::diagnostics([*finding]);
            }
            SessionUpdate::SessionEnded { usage, status, .. } if !is_subagent => {
                self.last_lines([self.summary(scope, status, usage)]);
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
            DecisionKind::Failed => self.notes(self.failures.lines(run)),
            DecisionKind::Rewrite => self.notes(rewrite_lines(run)),
            DecisionKind::Context => self.notes([format!(
                "  {} hook {} added context",
                styled(NOTICE, "+"),
                hook_name(run)
            )]),
            _ => {}
        }
        if !run.warnings.is_empty() {
            self.notes(warning_lines(run));
        }
        if self.debug && run.decision != DecisionKind::Failed && !run.stderr_tail.is_empty() {
            let line = |line: &str| styled(FAINT, format!("  {}: {}", run.hook, sanitize(line)));
            self.notes(run.stderr_tail.lines().map(line));
        }
    }

    fn noticed(&self, notice: &Notice) {
        self.notes([notice_line(notice)]);
    }
}

impl Show for Terminal {
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
