//! Puts a hook's `ask` to the person at the terminal (R30).

use std::io::{self, BufRead as _};

use tenter_agent::permission::{Answer, Asker};
use tenter_protocol::{ToolCall, json};

use crate::sanitize::{one_line, sanitize};
use crate::ui::{self, NAME, NOTICE, styled};

/// Asks at the terminal: once, always for this session, or no.
pub(crate) struct TerminalAsker;

impl Asker for TerminalAsker {
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> Answer {
        ui::note(format!(
            "{} the hook {} asks: {}",
            styled(NOTICE, "?"),
            styled(NAME, sanitize(hook)),
            sanitize(reason)
        ));
        ui::note(format!("  {} {}", call.name, one_line(&json::to_string(&call.input), 200)));
        ui::prompt("  Run it? [y] once  [a] always in this session  [n] no: ");
        let mut line = String::new();
        // Whoever closes the dialogue has not agreed.
        if io::stdin().lock().read_line(&mut line).is_err() {
            return Answer::No;
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" | "once" => Answer::Once,
            "a" | "always" => Answer::Always,
            _ => Answer::No,
        }
    }
}
