//! `/help`, `/exit` and `/quit`.

use tenter_protocol::event::ExitReason;

use super::{COMMANDS, CommandContext};
use crate::commands::chat::SessionEnd;
use crate::failure::Failure;
use crate::ui::{self, FAINT, NAME, styled};

/// Lists the commands.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn help(
    _context: &mut CommandContext,
    _argument: &str,
) -> Result<Option<SessionEnd>, Failure> {
    let usage = |name: &str, argument: &str| format!("/{name} {argument}").trim_end().to_owned();
    let width = COMMANDS.iter().map(|one| usage(one.name, one.argument).len()).max();
    for command in COMMANDS {
        let usage = format!("{:1$}", usage(command.name, command.argument), width.unwrap_or(0));
        ui::out(format!("  {}  {}", styled(NAME, usage), command.help));
    }
    for line in [
        "Alt-Enter begins a new line; so does Enter after a backslash, or in an open ```.",
        "What you type during an answer begins your next message. Ctrl-C stops an answer, Ctrl-D ends the chat.",
        "A line that begins with a space is not kept in the history.",
    ] {
        ui::out(styled(FAINT, line));
    }
    Ok(None)
}

/// Ends the chat.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn exit(
    _context: &mut CommandContext,
    _argument: &str,
) -> Result<Option<SessionEnd>, Failure> {
    Ok(Some(SessionEnd::Exit(ExitReason::UserExit)))
}
