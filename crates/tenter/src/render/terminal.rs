//! The agent's work on a terminal: the model's text on stdout as it comes; tools, hooks and their reasons on stderr.

use std::sync::{Mutex, PoisonError};

use tenter_agent::session::{Finish, Status};
use tenter_agent::{Happening, Watcher};
use tenter_engine::catalog::Untrusted;
use tenter_engine::{Decision, DecisionKind, HookRun, Observer};
use tenter_protocol::event::Usage;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{Diagnostic, EventName, Scope, ToolCall, ToolResult, json};

use super::Show;
use crate::sanitize::{one_line, sanitize};
use crate::ui::{self, BAD, FAINT, GOOD, NAME, NOTICE, styled};

/// Lines of a tool's result that are shown.
const RESULT_LINES: usize = 8;
/// Characters of a line that are shown.
const LINE_LENGTH: usize = 200;

/// Shows the work as it happens.
pub(crate) struct Terminal {
    /// Whether successful hooks' stderr is shown, too (R43).
    debug: bool,
    /// Whether the cursor stands at the end of the model's text, not at the beginning of a line.
    mid_text: Mutex<bool>,
}

impl Terminal {
    /// A terminal; with `debug` it also shows what successful hooks write to stderr.
    pub(crate) fn new(debug: bool) -> Self {
        Self { debug, mid_text: Mutex::new(false) }
    }

    fn text(&self, piece: &str) {
        let mut mid_text = self.mid_text.lock().unwrap_or_else(PoisonError::into_inner);
        ui::out_piece(sanitize(piece));
        *mid_text = !piece.ends_with('\n');
    }

    /// Lines that stand together, after the model's text has been brought to its line's end.
    fn lines<T: std::fmt::Display>(&self, lines: impl IntoIterator<Item = T>) {
        let mut mid_text = self.mid_text.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut *mid_text) {
            ui::out("");
        }
        lines.into_iter().for_each(ui::note);
    }
}

impl Watcher for Terminal {
    fn see(&self, scope: &Scope, happening: &Happening) {
        let of_subagent = scope.parent_conversation_id.is_some();
        match happening {
            Happening::TextDelta(piece) if !of_subagent => self.text(piece),
            Happening::Text(_) if !of_subagent => self.lines([] as [&str; 0]),
            Happening::Text(text) => {
                self.lines([styled(FAINT, format!("  subagent: {}", one_line(text, LINE_LENGTH)))]);
            }
            Happening::Reasoning(text) => {
                self.lines([styled(FAINT, format!("  {}", sanitize(text)))]);
            }
            Happening::ToolUse(call) => self.lines([call_line(call, of_subagent)]),
            Happening::ToolResult { result, .. } => self.lines(result_lines(result)),
            Happening::Blocked { event, hook, reason } => {
                self.lines([blocked_line(*event, hook, reason)]);
            }
            Happening::FollowUp { hook, text } => self.lines([format!(
                "{} hook {} goes on with: {}",
                styled(NOTICE, "↪"),
                styled(NAME, sanitize(hook)),
                sanitize(text)
            )]),
            Happening::History { kind, by, before, after } => self.lines([format!(
                "{} hook {} replaced the history ({kind}): {before} messages became {after}",
                styled(NOTICE, "↻"),
                styled(NAME, sanitize(by)),
            )]),
            Happening::Diagnostic(finding) => {
                self.lines([] as [&str; 0]);
                ui::diagnostics([*finding]);
            }
            Happening::Ended { usage, status, .. } if !of_subagent => {
                self.lines([end_line(scope, status, usage)]);
            }
            _ => {}
        }
    }
}

impl Observer for Terminal {
    fn hook_ran(&self, run: &HookRun) {
        match run.decision {
            DecisionKind::Failed => self.lines(failed_lines(run)),
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
}

impl Show for Terminal {
    fn finding(&self, finding: &Diagnostic) {
        ui::diagnostics([finding]);
    }

    fn untrusted(&self, hooks: &[Untrusted]) {
        crate::commands::trust::refuse(hooks);
    }

    fn finished(&self, finish: &Finish) {
        match finish.status {
            Status::MaxTurns => self.lines([styled(
                NOTICE,
                "stopped at the turn limit; go on with: tenter run --follow …",
            )]),
            Status::Interrupted => {
                self.lines([styled(NOTICE, "interrupted; go on with: tenter run --follow …")]);
            }
            _ => {}
        }
    }
}

/// Who blocked what, and why.
pub(super) fn blocked_line(event: EventName, hook: &str, reason: &str) -> String {
    let hook = styled(NAME, sanitize(hook));
    format!("  {} blocked by hook {hook} at {event}: {}", styled(BAD, "✗"), sanitize(reason))
}

/// A hook's failure, loudly (R42).
pub(super) fn failed_lines(run: &HookRun) -> Vec<String> {
    let why = sanitize(run.reason.as_deref().unwrap_or(&run.exit)).into_owned();
    let mut lines = vec![format!(
        "  {} hook {} failed at {}: {why}",
        styled(BAD, "!"),
        hook_name(run),
        run.event
    )];
    let tail: Vec<&str> = run.stderr_tail.lines().rev().take(RESULT_LINES).collect();
    lines.extend(tail.iter().rev().map(|line| styled(FAINT, format!("    {}", sanitize(line)))));
    lines
}

/// What of a hook's answer was not understood: it may have meant to forbid something (R27).
pub(super) fn warning_lines(run: &HookRun) -> Vec<String> {
    let warned = |warning: &String| {
        let (hook, event) = (hook_name(run), run.event);
        format!("  {} hook {hook} at {event}: {}", styled(NOTICE, "!"), sanitize(warning))
    };
    run.warnings.iter().map(warned).collect()
}

/// What a hook changed. A tool's output is not shown as it was before: it was changed for a reason (R25).
fn rewrite_lines(run: &HookRun) -> Vec<String> {
    let mut lines = vec![format!(
        "  {} hook {} changed it at {}",
        styled(NOTICE, "↻"),
        hook_name(run),
        run.event
    )];
    let was_output = run.event.may(Power::RewriteOutput);
    if let Some(change) = run.change.as_ref().filter(|_| !was_output) {
        let shown = |value: &serde_json::Value| one_line(&json::to_string(value), LINE_LENGTH);
        lines.push(format!("    {} {}", styled(FAINT, "from"), shown(&change.before)));
        lines.push(format!("    {} {}", styled(FAINT, "to  "), shown(&change.after)));
    }
    lines
}

fn hook_name(run: &HookRun) -> String {
    styled(NAME, sanitize(&run.hook))
}

/// A tool call on one line.
pub(crate) fn call_line(call: &ToolCall, of_subagent: bool) -> String {
    let input = one_line(&json::to_string(&call.input), LINE_LENGTH);
    let indent = if of_subagent { "  " } else { "" };
    format!("{indent}{} {} {}", styled(NAME, "●"), styled(ui::HEADING, sanitize(&call.name)), input)
}

/// A tool's result, its first lines.
pub(crate) fn result_lines(result: &ToolResult) -> Vec<String> {
    let text = result.text();
    let mark = if result.success { styled(GOOD, "✓") } else { styled(BAD, "✗") };
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut shown = vec![format!("  {mark} {}", one_line(first, LINE_LENGTH))];
    shown.extend(lines.by_ref().take(RESULT_LINES - 1).map(|line| format!("    {}", cut(line))));
    let left = lines.count();
    if left > 0 {
        shown.push(styled(FAINT, format!("    … {left} more lines")));
    }
    shown
}

/// A line with its indentation, cut to what is shown of one.
pub(crate) fn cut(line: &str) -> String {
    let safe = sanitize(line);
    if safe.chars().count() <= LINE_LENGTH {
        safe.into_owned()
    } else {
        safe.chars().take(LINE_LENGTH).chain(['…']).collect()
    }
}

fn end_line(scope: &Scope, status: &str, usage: &Usage) -> String {
    let about = if usage.estimated { "about " } else { "" };
    styled(
        FAINT,
        format!(
            "{status} · {about}{} tokens in, {} out · conversation {}",
            usage.input_tokens, usage.output_tokens, scope.conversation_id
        ),
    )
}
