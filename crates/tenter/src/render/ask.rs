//! Puts a hook's `ask` to the person at the terminal (R30).

use std::path::Path;

use tenter_agent::permission::{Asker, PermissionAnswer};
use tenter_base::excerpt::Ends;
use tenter_protocol::{ToolCall, json};

use crate::question::read_at_terminal;
use crate::sanitize::{sanitize, visible};
use crate::ui::{self, NAME, NOTICE, styled};

/// Characters of an input that are shown.
const LONGEST_SHOWN: usize = 4000;

/// What the answer is typed behind.
pub(crate) const ASK_PROMPT: &str =
    "  Run it? [y] yes  [a] always this call, in this session  [n] no: ";

/// What the answer about a protected place is typed behind.
pub(crate) const WRITE_PROMPT: &str = "  Allow it in this session? [y] yes  [n] no: ";

/// Asks at the terminal: yes, always this call in this session, or no.
pub(crate) struct TerminalAsker;

impl Asker for TerminalAsker {
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer {
        put_question(hook, reason, call);
        read_at_terminal(ASK_PROMPT).map_or(PermissionAnswer::No, |line| read_answer(&line))
    }
}

/// Shows which hook asks about which call, and why.
pub(crate) fn put_question(hook: &str, reason: &str, call: &ToolCall) {
    ui::note(format!(
        "{} the hook {} asks: {}",
        styled(NOTICE, "?"),
        styled(NAME, visible(hook)),
        sanitize(reason)
    ));
    ui::note(format!("  {} {}", call.name, whole(&json::to_string(&call.input))));
}

/// Shows which protected file the agent wants to change, and what is allowed with it.
pub(crate) fn put_write_question(place: &Path, file: &Path) {
    ui::note(format!(
        "{} the agent wants to write {}",
        styled(NOTICE, "?"),
        styled(NAME, quoted(file))
    ));
    ui::note(format!("  {} is protected: it decides what runs or guards the agent", quoted(place)));
}

/// A path in which no line end and no control sequence passes for something else.
fn quoted(path: &Path) -> String {
    sanitize(&path.to_string_lossy().escape_debug().to_string()).into_owned()
}

/// What is agreed to has to be seen. Of what is too long for that the two ends are shown, and how much is not.
fn whole(input: &str) -> String {
    let Some(Ends { head, omitted, tail }) = Ends::new(input, LONGEST_SHOWN) else {
        return sanitize(input).into_owned();
    };
    // Sanitized one by one: an escape sequence at the end of the head must not swallow the note.
    format!("{} [… {omitted} bytes omitted …] {}", sanitize(head), sanitize(tail))
}

/// What a typed line answers; whatever is not clearly a yes is a no.
pub(crate) fn read_answer(line: &str) -> PermissionAnswer {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "once" => PermissionAnswer::Yes,
        "a" | "always" => PermissionAnswer::Always,
        _ => PermissionAnswer::No,
    }
}
