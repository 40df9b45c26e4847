//! Shows an agent's work in a chat: as on any terminal, but with the model's text as Markdown, short tool calls, and the changes
//! of files.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tenter_agent::session::{Finish, Status};
use tenter_agent::{SessionUpdate, Watcher};
use tenter_engine::{AskAnswer, Decision, HookRun, Notice, Observer};
use tenter_protocol::event::Usage;
use tenter_protocol::tool_metadata::{FileEdit, FileWrite, Metadata};
use tenter_protocol::{Diagnostic, Scope, ToolCall, ToolResult, call_summary};

use super::markdown::Markdown;
use super::terminal::Terminal;
use super::{Show, diff, live};
use crate::sanitize::{one_line, visible};
use crate::screen::screen;
use crate::ui::{self, FAINT, HEADING, NAME, NOTICE, styled};

/// Maximum number of characters shown of a call.
const CALL_LENGTH: usize = 120;
/// Maximum size of a file, in bytes, whose changes are shown.
const LARGEST_DIFFED: u64 = 1024 * 1024;

/// Shows a chat.
pub(crate) struct Chat {
    terminal: Terminal,
    project: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    text: Markdown,
    /// The path and the previous contents of files that calls write, by call id.
    before: HashMap<String, (String, String)>,
    /// Number of model responses to the present message.
    turns: u64,
}

impl Chat {
    /// A chat in `project`; with `debug` it also shows what successful hooks write to stderr.
    pub(crate) fn new(project: &Path, debug: bool) -> Self {
        let project = project.to_owned();
        Self { terminal: Terminal::new(debug), project, state: Mutex::default() }
    }

    /// Ends the work on a message. `before` and `now` are the conversation's figures before and after it.
    pub(crate) fn answered(&self, finish: &Finish, before: &Usage, now: &Usage) {
        self.end_text();
        let turns = std::mem::take(&mut self.state().turns);
        let words = match finish.status {
            Status::Interrupted => Some("stopped; your next message continues from here"),
            Status::MaxTurns => {
                Some("stopped at the turn limit; your next message continues from here")
            }
            Status::Done | Status::Blocked | Status::Failed => None,
        };
        let stopped = words.map(|words| styled(NOTICE, words));
        let figures = (turns > 0).then(|| styled(FAINT, figures(turns, before, now)));
        self.terminal.lines(stopped.into_iter().chain(figures));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_text(&self, piece: &str) {
        let mut state = self.state();
        let whole = state.text.push(piece, ui::columns());
        let rest = state.text.clone();
        drop(state);
        self.terminal.end_line();
        screen().show_text(&whole, move |columns| rest.pending(columns));
    }

    fn end_text(&self) {
        let rest = self.state().text.finish(ui::columns());
        if !rest.is_empty() {
            self.terminal.end_line();
        }
        screen().show_text(&rest, |_| String::new());
    }

    fn discard_text(&self) {
        self.state().text.discard();
        screen().show_text("", |_| String::new());
    }

    fn call(&self, scope: &Scope, call: &ToolCall) {
        if let Some(before) = self.file_before(call) {
            self.state().before.insert(call.id.clone(), before);
        }
        self.terminal.lines([short_call(call)]);
        self.terminal.open(scope, call);
    }

    /// The path and the contents of the file that a call writes; empty contents for a new file, `None` for a large or special one.
    fn file_before(&self, call: &ToolCall) -> Option<(String, String)> {
        let path = call.input.get("file_path").and_then(Value::as_str)?;
        if !["file_write", "file_edit"].contains(&call.name.as_str()) {
            return None;
        }
        let file = self.project.join(path);
        match fs::metadata(&file) {
            Ok(found) if found.is_file() && found.len() <= LARGEST_DIFFED => {
                Some((path.to_owned(), fs::read_to_string(file).ok()?))
            }
            Ok(_) => None,
            Err(_) => Some((path.to_owned(), String::new())),
        }
    }

    fn result(&self, scope: &Scope, call_id: &str, result: &ToolResult) -> Vec<String> {
        let before = self.state().before.remove(call_id);
        let mut lines = self.terminal.result(scope, call_id, result);
        lines.extend(self.changes(before.as_ref(), result).unwrap_or_default());
        lines
    }

    /// The diff of the file that a call changed.
    fn changes(
        &self,
        before: Option<&(String, String)>,
        result: &ToolResult,
    ) -> Option<Vec<String>> {
        let is_file = |path: &str| before.filter(|(file, _)| self.is_same(file, path));
        if let Some(edit) = metadata::<FileEdit>(result) {
            let known = is_file(&edit.file_path);
            let after = known.and_then(|(_, text)| Some((text, diff::edited(text, &edit)?)));
            return Some(match after {
                Some((before, after)) => diff::of_files(before, &after, ui::columns()),
                None => diff::of_edit(&edit, ui::columns()),
            });
        }
        let written = metadata::<FileWrite>(result)?;
        let (_, before) = is_file(&written.file_path)?;
        Some(diff::of_files(before, &written.content, ui::columns()))
    }

    /// Whether two paths are one file. A hook may have changed the path of a call.
    fn is_same(&self, one: &str, other: &str) -> bool {
        self.project.join(one) == self.project.join(other)
    }
}

/// The metadata of a result, if it is of this type.
fn metadata<M: Metadata>(result: &ToolResult) -> Option<M> {
    let is_kind = !result.is_failure() && result.metadata_type.as_deref() == Some(M::TYPE);
    let metadata = result.metadata.clone().filter(|_| is_kind)?;
    serde_json::from_value(Value::Object(metadata)).ok()
}

/// A short line for a call.
fn short_call(call: &ToolCall) -> String {
    let summary = call_summary(&call.name, &call.input);
    let name = styled(HEADING, visible(&call.name));
    format!("{} {name} {}", styled(NAME, "●"), one_line(&summary, CALL_LENGTH))
}

/// The turns, tokens and cost of one answer.
fn figures(turns: u64, before: &Usage, now: &Usage) -> String {
    let about = if now.estimated { "about " } else { "" };
    let sent = now.input_tokens.saturating_sub(before.input_tokens);
    let received = now.output_tokens.saturating_sub(before.output_tokens);
    let noun = if turns == 1 { "turn" } else { "turns" };
    let tokens = format!("{turns} {noun} · {about}{sent} tokens in, {received} out");
    let cost = now.cost_usd.map(|cost| cost - before.cost_usd.unwrap_or(0.0));
    cost.map_or(tokens.clone(), |cost| format!("{tokens} · ${cost:.4}"))
}

impl Watcher for Chat {
    fn on_update(&self, scope: &Scope, update: &SessionUpdate) {
        live::on_update(scope, update);
        if scope.parent_conversation_id.is_some() {
            return self.terminal.show(scope, update);
        }
        match update {
            SessionUpdate::TextDelta(piece) => return self.add_text(piece),
            SessionUpdate::Retry { discarded: true, .. } => self.discard_text(),
            SessionUpdate::Usage(_) => self.state().turns += 1,
            // The chat shows figures of its own at the end; the others are not shown, so they do not end the text.
            SessionUpdate::Ended { .. }
            | SessionUpdate::ModelStarted { .. }
            | SessionUpdate::ModelEnded
            | SessionUpdate::ToolStarted { .. }
            | SessionUpdate::ToolEnded { .. }
            | SessionUpdate::RecipeEnded { .. } => return,
            _ => self.end_text(),
        }
        match update {
            SessionUpdate::ToolUse(call) => self.call(scope, call),
            SessionUpdate::ToolResult { call_id, result } => {
                self.terminal.lines(self.result(scope, call_id, result));
            }
            _ => self.terminal.show(scope, update),
        }
    }
}

impl Observer for Chat {
    fn hook_started(&self, run: &HookRun) {
        self.terminal.hook_started(run);
    }

    fn hook_stopped(&self, run: &HookRun) {
        self.terminal.hook_stopped(run);
    }

    fn hook_ran(&self, run: &HookRun) {
        self.terminal.hook_ran(run);
    }

    fn decided(&self, decision: &Decision) {
        self.terminal.decided(decision);
    }

    fn ask_answered(&self, answer: &AskAnswer) {
        self.terminal.ask_answered(answer);
    }

    fn noticed(&self, notice: &Notice) {
        self.terminal.noticed(notice);
    }
}

impl Show for Chat {
    fn finding(&self, finding: &Diagnostic) {
        ui::diagnostics([finding]);
    }

    fn finished(&self, finish: &Finish) {
        self.terminal.finished(finish);
    }
}
