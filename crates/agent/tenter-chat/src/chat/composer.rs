//! The input line of a chat while the agent works: a text with a cursor, and the lines that the user sent ahead.

use std::collections::VecDeque;

use tenter_base::{one_line, visible};
use tenter_terminal::screen::InputRows;
use tenter_terminal::text::columns;
use tenter_terminal::{FAINT, styled};

use super::input::is_unfinished;
use crate::keys::KeyPress;

/// Maximum number of lines shown of those sent ahead.
const QUEUED_ROWS: usize = 3;
/// Maximum number of characters of the text that are displayed on each side of the cursor.
const MAX_DISPLAYED: usize = 2000;
/// The prompt of the input line.
const PROMPT: &str = "> ";

/// A text that is being typed, on both sides of the cursor.
#[derive(Debug, Clone, Default)]
pub(super) struct TypedText {
    pub(super) head: String,
    pub(super) tail: String,
}

impl TypedText {
    /// Returns the whole text.
    pub(super) fn join_text(&self) -> String {
        format!("{}{}", self.head, self.tail)
    }
}

/// A text that is being typed, and lines that follow the present answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Composer {
    text: String,
    /// The position in the text, in bytes.
    cursor: usize,
    queue: VecDeque<String>,
}

impl Composer {
    /// Returns whether no text is being typed.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether there is something to show: a text, or a line that was sent ahead.
    pub(super) fn has_content(&self) -> bool {
        !self.text.is_empty() || !self.queue.is_empty()
    }

    /// Returns whether a line was sent ahead.
    pub(super) fn has_sent(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Edits the text. Enter sends it ahead; Up takes the line that was sent last back.
    pub(super) fn press(&mut self, key: KeyPress) {
        match key {
            KeyPress::Text(text) => self.insert(&text),
            KeyPress::NewLine => self.insert("\n"),
            KeyPress::Enter if is_unfinished(&self.text) => self.insert("\n"),
            KeyPress::Enter => self.send_ahead(),
            KeyPress::Backspace => self.erase(self.before()..self.cursor),
            KeyPress::Delete => self.erase(self.cursor..self.after()),
            KeyPress::Left => self.cursor = self.before(),
            KeyPress::Right => self.cursor = self.after(),
            KeyPress::Start => self.cursor = 0,
            KeyPress::End => self.cursor = self.text.len(),
            KeyPress::EraseWord => self.erase(self.word_start()..self.cursor),
            KeyPress::EraseBefore => self.erase(0..self.cursor),
            KeyPress::EraseAfter => self.erase(self.cursor..self.text.len()),
            KeyPress::Up if self.text.is_empty() => self.take_back(),
            KeyPress::Up
            | KeyPress::Down
            | KeyPress::Expand
            | KeyPress::Interrupt
            | KeyPress::Close => {}
        }
    }

    /// Returns the next line that was sent ahead.
    pub(super) fn next_line(&mut self) -> Option<String> {
        self.queue.pop_front()
    }

    /// Takes the text, as its parts before and after the cursor.
    pub(super) fn take_text(&mut self) -> (String, String) {
        let mut text = std::mem::take(&mut self.text);
        let after_cursor = text.split_off(std::mem::take(&mut self.cursor));
        (text, after_cursor)
    }

    /// Makes the lines that were sent ahead a part of the text: the user sees them again before they are sent.
    pub(super) fn unsend(&mut self, is_unsent: impl Fn(&str) -> bool) {
        let lines: Vec<String> = self.queue.drain(..).collect();
        let (mut unsent, queue): (Vec<String>, Vec<String>) =
            lines.into_iter().partition(|line| is_unsent(line));
        self.queue = queue.into();
        if !self.text.is_empty() {
            unsent.push(std::mem::take(&mut self.text));
        }
        self.text = unsent.join("\n");
        self.cursor = self.text.len();
    }

    /// Puts a text before the one that is being typed.
    pub(super) fn prepend(&mut self, text: &str) {
        let separator = if text.is_empty() || self.text.is_empty() { "" } else { "\n" };
        self.text = format!("{text}{separator}{}", self.text);
        self.cursor = self.text.len();
    }

    /// Returns the rows of the input line, with the lines that were sent ahead above it.
    pub(super) fn rows(&self, width: usize) -> InputRows {
        let line = |line: &String| {
            let line = one_line(line, width.saturating_sub(10));
            styled(FAINT, format!("  queued: {line}"))
        };
        let mut rows: Vec<String> = self.queue.iter().take(QUEUED_ROWS).map(line).collect();
        let more = self.queue.len().saturating_sub(QUEUED_ROWS);
        if more > 0 {
            rows.push(styled(FAINT, format!("  queued: {more} more")));
        }
        let (before, right) = self.text.split_at(self.cursor);
        let (mut left_text, mut right) = (displayed(before), displayed(right));
        let room = width.saturating_sub(PROMPT.len() + 1);
        let room_before = room.saturating_sub(columns(&right).min(room / 3));
        while columns(&left_text) > room_before {
            left_text.remove(0);
        }
        let room_after = room - columns(&left_text).min(room);
        while columns(&right) > room_after {
            right.pop();
        }
        rows.push(format!("{PROMPT}{left_text}{right}"));
        InputRows { rows, cursor_left: columns(&right) }
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn erase(&mut self, range: std::ops::Range<usize>) {
        self.cursor = range.start;
        self.text.drain(range);
    }

    fn send_ahead(&mut self) {
        let (before, right) = self.take_text();
        let line = before + &right;
        if !line.trim().is_empty() {
            self.queue.push_back(line);
        }
    }

    fn take_back(&mut self) {
        self.text = self.queue.pop_back().unwrap_or_default();
        self.cursor = self.text.len();
    }

    fn before(&self) -> usize {
        let last = self.text[..self.cursor].chars().next_back();
        self.cursor - last.map_or(0, char::len_utf8)
    }

    fn after(&self) -> usize {
        self.cursor + self.text[self.cursor..].chars().next().map_or(0, char::len_utf8)
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before
            .rfind(char::is_whitespace)
            .map_or(0, |space| space + before[space..].chars().next().map_or(0, char::len_utf8))
    }
}

/// Returns a part of the text on one row: its last characters, if it is very long.
fn displayed(text: &str) -> String {
    let start = text.char_indices().rev().take(MAX_DISPLAYED).last().map_or(0, |(at, _)| at);
    let row = text[start..].replace('\n', "⏎").replace('\t', " ");
    visible(&row).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composer(keys: &[KeyPress]) -> Composer {
        let mut composer = Composer::default();
        for key in keys {
            composer.press(key.clone());
        }
        composer
    }

    fn text(text: &str) -> KeyPress {
        KeyPress::Text(text.to_owned())
    }

    #[test]
    fn keys_edit_the_text_at_the_cursor() {
        for (keys, left, right) in [
            (&[text("ab"), KeyPress::Left, text("é")][..], "aé", "b"),
            (&[text("aé"), KeyPress::Backspace, text("b")], "ab", ""),
            (&[text("ab"), KeyPress::Start, KeyPress::Delete, KeyPress::End, text("c")], "bc", ""),
            (&[text("one two "), KeyPress::EraseWord, text("x")], "one x", ""),
            (&[text("ab"), KeyPress::Left, KeyPress::EraseAfter, KeyPress::EraseBefore], "", ""),
            (&[text("a\\"), KeyPress::Enter, text("b"), KeyPress::NewLine], "a\\\nb\n", ""),
            (
                &[
                    KeyPress::Backspace,
                    KeyPress::Left,
                    KeyPress::Right,
                    KeyPress::Delete,
                    KeyPress::EraseWord,
                ],
                "",
                "",
            ),
        ] {
            let parts = composer(keys).take_text();
            assert_eq!(parts, (left.to_owned(), right.to_owned()), "{keys:?}");
        }
    }

    #[test]
    fn enter_sends_ahead_and_up_takes_back() {
        let mut message = composer(&[
            text("one"),
            KeyPress::Enter,
            text("two"),
            KeyPress::Enter,
            KeyPress::Enter,
        ]);
        message.press(KeyPress::Up);
        assert_eq!(message.next_line().as_deref(), Some("one"));
        assert_eq!(message.take_text().0, "two");
        assert_eq!(message.next_line(), None);
    }

    #[test]
    fn unsent_lines_precede_the_text() {
        let mut message =
            composer(&[text("y"), KeyPress::Enter, text("two"), KeyPress::Enter, text("three")]);
        message.unsend(|line| line == "y");
        assert_eq!(message.take_text().0, "y\nthree");
        assert_eq!(message.next_line().as_deref(), Some("two"));
        message.press(text("typed"));
        message.prepend("before");
        assert_eq!(message.take_text().0, "before\ntyped");
    }

    #[test]
    fn a_long_text_scrolls_and_the_cursor_stays_visible() {
        let long = composer(&[text(&"x".repeat(50)), text("end")]);
        let view = long.rows(20);
        assert_eq!(
            (view.rows.last().unwrap().as_str(), view.cursor_left),
            ("> xxxxxxxxxxxxxxend", 0)
        );
        let mut at_start = long;
        at_start.press(KeyPress::Start);
        let view = at_start.rows(20);
        assert_eq!((columns(view.rows.last().unwrap()), view.cursor_left), (19, 17));
        let wide = composer(&[text("日本\n語")]).rows(20);
        assert_eq!(wide.rows, ["> 日本⏎語"]);
    }
}
