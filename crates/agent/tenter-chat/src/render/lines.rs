//! The lines that show what an agent and its hooks do.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use tenter_base::{excerpt, lock, one_line, sanitize, visible};
use tenter_engine::{HookRun, Notice};
use tenter_protocol::event::Usage;
use tenter_protocol::lifecycle::Power;
use tenter_protocol::{EventName, ToolCall, ToolResult, call_summary, json};
use tenter_terminal::text::{LINE_LENGTH, cut};
use tenter_terminal::{BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled};

/// Maximum number of lines shown of a tool's result.
const RESULT_LINES: usize = 8;
/// Maximum number of characters shown of a short call.
const CALL_LENGTH: usize = 120;

/// The failures of hooks that were shown in full. A broken hook fails at every event, so its later failures are short.
#[derive(Default)]
pub(super) struct Failures(Mutex<HashSet<(String, String)>>);

impl Failures {
    /// Returns the lines that show a failure: in full the first time, one line after that.
    pub(super) fn lines(&self, run: &HookRun) -> Vec<String> {
        let why = run.reason.clone().unwrap_or_else(|| run.end.to_string());
        let mut reports = lock(&self.0);
        if reports.insert((run.hook.clone(), why.clone())) {
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

/// Returns the line that shows a notice.
pub(super) fn notice_line(notice: &Notice) -> String {
    let text = sanitize(&notice.text);
    match &notice.hook {
        Some(hook) => format!("  {} hook {}: {text}", styled(NOTICE, "i"), visible(hook)),
        None => format!("  {} {text}", styled(NOTICE, "i")),
    }
}

/// Returns the line for a blocked event, or for a call with a name that is blocked.
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

/// Returns the lines for a hook's failure (R42).
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
        let excerpt = one_line(&run.stdout, LINE_LENGTH);
        lines.push(styled(FAINT, format!("    its stdout: {excerpt:?}")));
    }
    let tail = excerpt::last_lines(&run.stderr_tail, RESULT_LINES).lines();
    lines.extend(tail.map(|line| styled(FAINT, format!("    {}", sanitize(line)))));
    lines
}

/// Returns the lines for the unusable parts of a hook's reply, which may have been meant to block something (R27).
pub(super) fn warning_lines(run: &HookRun) -> Vec<String> {
    let line = |warning: &String| {
        let (hook, event) = (hook_name(run), run.event);
        format!("  {} hook {hook} at {event}: {}", styled(NOTICE, "!"), sanitize(warning))
    };
    run.warnings.iter().map(line).collect()
}

/// Returns the lines for what a hook changed. The original of a tool's output is not shown, since it may hold what the hook
/// removed (R25).
pub(super) fn rewrite_lines(run: &HookRun) -> Vec<String> {
    let mut lines = vec![format!(
        "  {} hook {} changed it at {}",
        styled(NOTICE, "↻"),
        hook_name(run),
        run.event
    )];
    let is_output = run.event.may(Power::RewriteOutput);
    if let Some(change) = run.change.as_ref().filter(|_| !is_output) {
        let short = |value: &serde_json::Value| one_line(&json::to_string(value), LINE_LENGTH);
        lines.push(format!("    {} {}", styled(FAINT, "from"), short(&change.before)));
        lines.push(format!("    {} {}", styled(FAINT, "to  "), short(&change.after)));
    }
    lines
}

pub(super) fn hook_name(run: &HookRun) -> String {
    styled(NAME, visible(&run.hook))
}

/// Returns a tool call as one line: its tool, and its most important input.
pub(super) fn short_call_line(call: &ToolCall, is_subagent: bool) -> String {
    let summary = one_line(&call_summary(&call.name, &call.input), CALL_LENGTH);
    call_parts(call, &summary, is_subagent)
}

/// Returns a tool call with its input on one line.
pub(crate) fn call_line(call: &ToolCall, is_subagent: bool) -> String {
    call_parts(call, &one_line(&json::to_string(&call.input), LINE_LENGTH), is_subagent)
}

fn call_parts(call: &ToolCall, about: &str, is_subagent: bool) -> String {
    let indent = if is_subagent { "  " } else { "" };
    format!("{indent}{} {} {about}", styled(NAME, "●"), styled(HEADING, visible(&call.name)))
}

/// Returns the first lines of a tool's result.
pub(crate) fn result_lines(result: &ToolResult) -> Vec<String> {
    result_lines_of(None, result)
}

/// Returns the first lines of the result of a call, which may have a name.
pub(super) fn result_lines_of(call: Option<&str>, result: &ToolResult) -> Vec<String> {
    let mark = if result.is_failure() { styled(BAD, "✗") } else { styled(GOOD, "✓") };
    let text = plain_text(result);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let call = call.map_or_else(String::new, |call| format!("{}: ", styled(FAINT, call)));
    let mut result = vec![format!("  {mark} {call}{}", one_line(first, LINE_LENGTH))];
    result.extend(lines.by_ref().take(RESULT_LINES - 1).map(|line| format!("    {}", cut(line))));
    let rest = lines.count();
    if rest > 0 {
        result.push(styled(FAINT, format!("    … {rest} more lines")));
    }
    result
}

/// Returns all lines of a result; `None` if [`result_lines`] shows all of them.
pub(super) fn folded_lines(result: &ToolResult) -> Option<Vec<String>> {
    let text = plain_text(result);
    let lines: Vec<String> = text.lines().map(|line| sanitize(line).into_owned()).collect();
    (lines.len() > RESULT_LINES).then_some(lines)
}

/// Returns the text of a result without the tags that mark an error for the model.
fn plain_text(result: &ToolResult) -> String {
    let text = result.text();
    match &result.error {
        Some(error) => text.replacen(&format!("<error>{error}</error>"), error, 1),
        None => text,
    }
}

/// Returns the tokens of the conversation, and which share of this run's input a provider had cached.
pub(super) fn figures(usage: &Usage, input_tokens: u64, cached_tokens: u64) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let share = (cached_tokens * 100).checked_div(input_tokens).filter(|share| *share > 0);
    let share = share.map_or_else(String::new, |share| format!(" ({share}% cached)"));
    format!("{about}{} tokens in{share}, {} out", usage.input_tokens, usage.output_tokens)
}

/// Returns the line for a retry: the reason, the pause, and the number of the attempt.
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
