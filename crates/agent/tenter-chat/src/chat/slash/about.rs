//! `/help`, `/exit` and `/quit`.

use tenter_protocol::event::ExitReason;
use tenter_terminal::text::prose;
use tenter_terminal::{FAINT, NAME, styled, ui};

use super::{COMMANDS, CommandContext, SlashResult};
use crate::chat::ChatEnd;

/// Minimum number of columns for what a command does, next to the command.
const MIN_HELP: usize = 34;

/// Lists the commands.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn help(_context: &mut CommandContext, _argument: &str) -> SlashResult {
    let width = ui::columns();
    for line in commands(width) {
        ui::out(line);
    }
    for line in [
        "Alt-Enter begins a new line; so does Enter after a backslash, or in an open ```.",
        "What you type during an answer begins your next message. Ctrl-C stops an answer, Ctrl-D ends the chat.",
        "A line that begins with a space is not kept in the history.",
    ] {
        for line in prose(line, width) {
            ui::out(styled(FAINT, line));
        }
    }
    Ok(None)
}

/// Returns the lines that list the commands: what each does is next to it if there is room, and below it otherwise.
fn commands(width: usize) -> Vec<String> {
    let usages = COMMANDS.iter().map(|one| format!("/{} {}", one.name, one.argument));
    let usages: Vec<String> = usages.map(|usage| usage.trim_end().to_owned()).collect();
    let longest = usages.iter().map(String::len).max().unwrap_or(0);
    let beside = longest + 4;
    let is_wide = width >= beside + MIN_HELP;
    let indent = if is_wide { beside } else { 4 };
    let mut lines = Vec::new();
    for (usage, command) in usages.iter().zip(COMMANDS) {
        let mut help = prose(command.help, width.saturating_sub(indent)).into_iter();
        if is_wide {
            let usage = styled(NAME, format!("{usage:longest$}"));
            lines.push(format!("  {usage}  {}", help.next().unwrap_or_default()));
        } else {
            lines.push(format!("  {}", styled(NAME, usage)));
        }
        lines.extend(help.map(|line| format!("{:indent$}{line}", "")));
    }
    lines
}

/// Ends the chat.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn exit(_context: &mut CommandContext, _argument: &str) -> SlashResult {
    Ok(Some(ChatEnd::Exit(ExitReason::UserExit)))
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn every_command_and_its_help_fit_any_terminal() {
        for width in [45, 60, 79, 100, 200] {
            let lines = commands(width);
            let plain: Vec<String> = lines.iter().map(|line| strip_str(line).to_string()).collect();
            assert!(plain.iter().all(|line| line.chars().count() <= width), "{width}: {plain:#?}");
            let words = plain.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
            for command in COMMANDS {
                assert!(words.contains(&format!("/{}", command.name)), "{width}: {words}");
                assert!(words.contains(command.help), "{width}: {words}");
            }
        }
    }
}
