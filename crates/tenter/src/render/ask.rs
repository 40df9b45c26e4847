//! Asks the user at the terminal on behalf of a hook (R30).

use std::path::Path;

use tenter_agent::permission::{Asker, PermissionAnswer};
use tenter_base::excerpt::Ends;
use tenter_protocol::{ToolCall, json};

use crate::question::read_at_terminal;
use crate::sanitize::{sanitize, visible};
use crate::ui::{self, NAME, NOTICE, styled};

/// Maximum number of characters shown of a tool's input.
const LONGEST_SHOWN: usize = 4000;

/// The prompt for a hook's question.
pub(crate) const ASK_PROMPT: &str =
    "  Run it? [y] yes  [a] always this call, in this session  [n] no: ";

/// The prompt for a protected path.
pub(crate) const WRITE_PROMPT: &str = "  Allow it in this session? [y] yes  [n] no: ";

/// Asks at the terminal: yes, always for this call in this session, or no.
pub(crate) struct TerminalAsker;

impl Asker for TerminalAsker {
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer {
        put_question(hook, reason, call);
        read_at_terminal(ASK_PROMPT).map_or(PermissionAnswer::No, |line| read_answer(&line))
    }
}

/// Shows which hook asks about which call, and its reason.
pub(crate) fn put_question(hook: &str, reason: &str, call: &ToolCall) {
    ui::note(format!(
        "{} the hook {} asks: {}",
        styled(NOTICE, "?"),
        styled(NAME, visible(hook)),
        sanitize(reason)
    ));
    ui::note(format!("  {} {}", call.name, whole(&json::to_string(&call.input))));
}

/// Shows which protected file the agent wants to change.
pub(crate) fn put_write_question(place: &Path, file: &Path) {
    ui::note(format!(
        "{} the agent wants to write {}",
        styled(NOTICE, "?"),
        styled(NAME, quoted(file))
    ));
    ui::note(format!(
        "  {} is protected, because it decides what runs or guards the agent",
        quoted(place)
    ));
}

/// A path with line ends and control characters escaped.
fn quoted(path: &Path) -> String {
    sanitize(&path.to_string_lossy().escape_debug().to_string()).into_owned()
}

/// The whole input, since the user agrees to it; of a long one the two ends, and how much is left out.
fn whole(input: &str) -> String {
    let Some(Ends { head, omitted, tail }) = Ends::new(input, LONGEST_SHOWN) else {
        return sanitize(input).into_owned();
    };
    // Sanitized one by one: an escape sequence at the end of the head must not swallow the note.
    format!("{} [… {omitted} bytes omitted …] {}", sanitize(head), sanitize(tail))
}

/// The answer in a typed line; everything but a clear yes means no.
pub(crate) fn read_answer(line: &str) -> PermissionAnswer {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "once" => PermissionAnswer::Yes,
        "a" | "always" => PermissionAnswer::Always,
        _ => PermissionAnswer::No,
    }
}
