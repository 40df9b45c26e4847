//! Shows an agent's work: on a terminal, as JSON lines, or only its result.

mod ask;
mod call_input;
mod changes;
mod chat;
mod headless;
mod lines;
mod live;
mod open_calls;
mod permission;
mod quiet;
mod terminal;

use tenter_agent::Watcher;
use tenter_agent::session::Finish;
use tenter_engine::Observer;
use tenter_protocol::Diagnostic;
use tenter_terminal::ui;

pub(crate) use ask::{
    ASK_LETTERS, ASK_PROMPT, TerminalAsker, WRITE_LETTERS, WRITE_PROMPT, answer_of,
    answer_question, put_question, put_write_question,
};
pub(crate) use chat::ChatDisplay;
pub(crate) use headless::{Headless, write_early};
pub(crate) use lines::{call_line, result_lines};
pub(crate) use permission::ask_permission;
pub(crate) use quiet::Quiet;
pub(crate) use terminal::Terminal;

/// Returns a status in words. Programs read the status itself.
pub(crate) fn status_words(status: &str) -> &str {
    match status {
        "max_turns" => "turn limit",
        other => other,
    }
}

/// One way to show an agent's work: it receives the agent's happenings and the engine's hook runs.
pub(crate) trait Show: Watcher + Observer {
    /// Shows a diagnostic from before the work began.
    fn finding(&self, finding: &Diagnostic) {
        ui::diagnostics([finding]);
    }

    /// Reports that no work begins, since something of the project is untrusted (R46). The user is shown a failure as well.
    fn untrusted(&self, _names: &[String]) {}

    /// Reports that the work has ended.
    fn finished(&self, _finish: &Finish) {}
}
