//! `/help` and `/exit`.

use tenter_protocol::event::ExitReason;

use super::{COMMANDS, Talk};
use crate::commands::chat::After;
use crate::failure::Failure;
use crate::ui::{self, FAINT, NAME, styled};

/// Lists the commands.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn help(_talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    let usage = |name: &str, argument: &str| format!("/{name} {argument}").trim_end().to_owned();
    let width = COMMANDS.iter().map(|one| usage(one.name, one.argument).len()).max();
    for command in COMMANDS {
        let usage = format!("{:1$}", usage(command.name, command.argument), width.unwrap_or(0));
        ui::out(format!("  {}  {}", styled(NAME, usage), command.help));
    }
    for line in [
        "Alt-Enter begins a new line; so does Enter after a backslash, or in an open ```.",
        "What you type during an answer is taken up after it. Ctrl-C stops an answer, Ctrl-D ends the chat.",
        "A line that begins with a space is not remembered.",
    ] {
        ui::out(styled(FAINT, line));
    }
    Ok(None)
}

/// Ends the chat.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn exit(_talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    Ok(Some(After::Nothing(ExitReason::UserExit)))
}
