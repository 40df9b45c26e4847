//! Shows the end of the conversation that a chat continues: the last message and its answer, about one screen of it.

use std::collections::VecDeque;

use anstream::adapter::strip_str;
use tenter_base::{format_count, sanitize};
use tenter_terminal::text::Markdown;
use tenter_terminal::{FAINT, NAME, styled, ui};

use crate::agent::Recap;

/// Maximum number of lines shown of the user's message.
const MESSAGE_LINES: usize = 5;
/// Number of rows of the screen for everything but the answer.
const OTHER_ROWS: usize = 12;
/// The answer gets at least this many rows.
const LEAST_ROWS: usize = 6;

/// Shows the end of a conversation.
pub(super) fn show(recap: &Recap) {
    let lines = lines(recap, ui::rows().saturating_sub(OTHER_ROWS).max(LEAST_ROWS), ui::columns());
    ui::out_piece(lines.join("\n") + "\n");
}

/// Returns the lines to show; the answer gets at most `rows` rows of `columns` columns.
fn lines(recap: &Recap, rows: usize, columns: usize) -> Vec<String> {
    let when = format!("the conversation was saved at {} UTC", ui::short_time(&recap.at));
    let mut lines = vec![styled(FAINT, when)];
    let message = sanitize(&recap.message);
    // Not as at a prompt, where the next message is typed.
    let message_lines = message.lines().map(|line| format!("{} {line}", styled(NAME, "│")));
    lines.extend(message_lines.take(MESSAGE_LINES));
    let more = message.lines().count().saturating_sub(MESSAGE_LINES);
    if more > 0 {
        lines.push(styled(FAINT, format!("  … {more} more lines")));
    }
    if recap.calls > 0 {
        let calls = format_count(recap.calls, "tool call", "tool calls");
        lines.push(styled(FAINT, format!("  {calls}")));
    }
    let mut markdown = Markdown::default();
    let answer = markdown.push(&recap.answer, columns) + &markdown.finish(columns);
    if answer.is_empty() {
        lines.push(styled(FAINT, "  no answer"));
    }
    lines.extend(last_rows(&answer, rows, columns));
    lines
}

/// Returns the last lines of a text that fit in this many rows, with a note about those before them.
fn last_rows(text: &str, rows: usize, columns: usize) -> Vec<String> {
    let mut tail = VecDeque::new();
    let mut room = rows;
    for line in text.lines().rev() {
        let width = strip_str(line).to_string().chars().count();
        let line_rows = width.div_ceil(columns.max(1)).max(1);
        if line_rows > room {
            break;
        }
        room -= line_rows;
        tail.push_front(line.to_owned());
    }
    let before = text.lines().count() - tail.len();
    if before > 0 {
        let lines = format_count(before, "line", "lines");
        tail.push_front(styled(FAINT, format!("  … {lines} before; /export writes all")));
    }
    tail.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| strip_str(line).to_string()).collect()
    }

    fn recap(message: &str, answer: &str, calls: usize) -> Recap {
        let at = "2026-11-23T05:51:09.5Z".to_owned();
        Recap { at, message: message.to_owned(), answer: answer.to_owned(), calls }
    }

    #[test]
    fn the_message_and_its_answer_are_shown() {
        let output = plain(&lines(&recap("add\ta\nline\x1b[2J", "**Done.**\n", 2), 10, 80));
        let when = "the conversation was saved at 2026-11-23 05:51:09 UTC";
        assert_eq!(output, [when, "│ add\ta", "│ line", "  2 tool calls", "Done."]);
        assert_eq!(plain(&lines(&recap("a", "", 0), 10, 80))[2], "  no answer");
    }

    #[test]
    fn long_texts_are_cut() {
        let message = "m\n".repeat(8);
        let answer = "one\n\ntwo\n\nthree\n";
        let output = plain(&lines(&recap(&message, answer, 0), 3, 80));
        assert_eq!(
            output[6..],
            ["  … 3 more lines", "  … 2 lines before; /export writes all", "two", "", "three"]
        );
        assert_eq!(
            plain(&last_rows("long line\nend\n", 3, 4)),
            ["  … 1 line before; /export writes all", "end"]
        );
    }
}
