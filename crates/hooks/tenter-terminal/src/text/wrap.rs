//! Styled text on one line, and how it is broken into lines between words.

use std::fmt;

use anstream::adapter::strip_str;
use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

use crate::style::styled;

/// Punctuation that does not begin a line. In scripts without spaces, lines break between all other characters.
const CLOSING: &str = "、。，．・！？：；）］｝〕〉》」』】〙〗ー";
/// Characters after which a line does not end.
const OPENING: &str = "([{（［｛〔〈《「『【〘〖";

/// Returns the number of columns that a text without control characters takes on the terminal.
pub fn columns(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.graphemes(true).map(UnicodeWidthStr::width).sum()
    }
}

/// Returns `text` in lines of at most `width` columns. Only longer words are broken.
pub fn prose(text: &str, width: usize) -> Vec<String> {
    let lines = StyledLine::new(Style::new(), text).wrap(width.max(1));
    lines.iter().map(ToString::to_string).collect()
}

/// Returns a line of a message, which may have styles, in lines of at most `width` columns. Further lines are indented below its
/// text.
pub fn hanging(line: &str, width: usize) -> Vec<String> {
    let plain = strip_str(line).to_string();
    if columns(&plain) <= width {
        return vec![line.to_owned()];
    }
    let lead = plain.len() - plain.trim_start_matches(' ').len();
    let indent = (lead + 2).min(width / 2);
    let mut rest = Styled(line.get(lead..).unwrap_or(line));
    let mut lines = prose(plain[lead..].trim_end(), width.saturating_sub(indent)).into_iter();
    let first = lines.next().map(|text| format!("{:lead$}{}", "", rest.take(&text)));
    let further = lines.map(|text| format!("{:indent$}{}", "", rest.take(&text)));
    first.into_iter().chain(further).collect()
}

/// The rest of a text with escape sequences.
struct Styled<'t>(&'t str);

impl Styled<'_> {
    /// Removes `text` from the front, after spaces at which a line was broken, and returns it with its escape sequences.
    fn take(&mut self, text: &str) -> String {
        let mut line = String::new();
        let mut rest = text.chars().peekable();
        let starts_with_space = text.starts_with(' ');
        let mut is_at_start = true;
        while let Some(next) = self.0.chars().next() {
            if next == '\x1b' {
                let end = self.0.find('m').map_or(self.0.len(), |end| end + 1);
                line.push_str(&self.0[..end]);
                self.0 = &self.0[end..];
                continue;
            }
            let is_break = is_at_start && next == ' ' && !starts_with_space;
            if !is_break && rest.next().is_none() {
                break;
            }
            self.0 = &self.0[next.len_utf8()..];
            if !is_break {
                is_at_start = false;
                line.push(next);
            }
        }
        line
    }
}

/// Styled text without line ends.
#[derive(Debug, Default, Clone)]
pub(super) struct StyledLine {
    spans: Vec<(Style, String)>,
    width: usize,
}

impl StyledLine {
    /// Creates a line with this text.
    pub(super) fn new(style: Style, text: &str) -> Self {
        let mut line = Self::default();
        line.push(style, text);
        line
    }

    /// Appends text.
    pub(super) fn push(&mut self, style: Style, text: &str) {
        self.width += columns(text);
        match self.spans.last_mut() {
            Some((last, span)) if *last == style => span.push_str(text),
            _ if text.is_empty() => {}
            _ => self.spans.push((style, text.to_owned())),
        }
    }

    /// Appends another line.
    pub(super) fn append(&mut self, other: &Self) {
        for (style, text) in &other.spans {
            self.push(*style, text);
        }
    }

    /// Removes spaces at the end.
    pub(super) fn trim_end(&mut self) {
        while let Some((_, text)) = self.spans.last_mut() {
            let length = text.trim_end_matches(' ').len();
            self.width -= text.len() - length;
            text.truncate(length);
            if length > 0 {
                return;
            }
            self.spans.pop();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the number of columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of columns of the longest part that wrapping keeps together.
    pub(super) fn longest_word(&self) -> usize {
        self.words().iter().map(|word| word.text.width).max().unwrap_or(0)
    }

    /// Returns the text in lines of at most `width` columns, at least one. Only longer words are broken.
    pub(super) fn wrap(&self, width: usize) -> Vec<Self> {
        let mut lines = Vec::new();
        let mut line = Self::default();
        for word in self.words() {
            let fits = line.width + word.space.width + word.text.width <= width;
            if fits || line.is_empty() && word.space.width < width {
                line.append(&word.space);
            } else if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if line.width + word.text.width <= width {
                line.append(&word.text);
            } else {
                word.text.break_into(width, &mut line, &mut lines);
            }
        }
        lines.push(line);
        lines
    }

    /// Returns the text in lines of at most `width` columns, broken anywhere.
    pub(super) fn broken(&self, width: usize) -> Vec<Self> {
        let mut lines = Vec::new();
        let mut line = Self::default();
        self.break_into(width, &mut line, &mut lines);
        lines.push(line);
        lines
    }

    fn break_into(&self, width: usize, line: &mut Self, lines: &mut Vec<Self>) {
        for (style, one) in self.graphemes() {
            if line.width + columns(one) > width && !line.is_empty() {
                lines.push(std::mem::take(line));
            }
            line.push(style, one);
        }
    }

    fn graphemes(&self) -> impl Iterator<Item = (Style, &str)> {
        self.spans.iter().flat_map(|(style, text)| text.graphemes(true).map(|one| (*style, one)))
    }

    fn words(&self) -> Vec<StyledWord> {
        let mut words = Vec::new();
        let mut word = StyledWord::default();
        for (style, one) in self.graphemes() {
            if word.ends_before(one) {
                words.push(std::mem::take(&mut word));
            }
            let part = if is_space(one) { &mut word.space } else { &mut word.text };
            part.push(style, one);
        }
        if !word.text.is_empty() {
            words.push(word);
        }
        words
    }
}

impl fmt::Display for StyledLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spans.iter().try_for_each(|(style, text)| f.write_str(&styled(*style, text)))
    }
}

/// A part of a text that stays together, after the space before it.
#[derive(Default)]
struct StyledWord {
    space: StyledLine,
    text: StyledLine,
}

impl StyledWord {
    fn ends_before(&self, next: &str) -> bool {
        let Some((_, text)) = self.text.spans.last() else { return false };
        let Some(last) = text.chars().next_back() else { return false };
        let is_wide = |text: &str| columns(text) > 1;
        let may_break = !OPENING.contains(last) && !CLOSING.contains(next);
        is_space(next)
            || may_break && is_wide(next)
            || may_break
                && is_wide(last.encode_utf8(&mut [0; 4]))
                && next.chars().all(char::is_alphanumeric)
    }
}

fn is_space(text: &str) -> bool {
    text == " " || text == "\t"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(text: &str, width: usize) -> Vec<String> {
        let lines = StyledLine::new(Style::new(), text).wrap(width);
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_reason_is_broken_between_words_and_keeps_its_styles() {
        let line = "  \x1b[31m✗\x1b[0m blocked by hook \x1b[1mguard\x1b[0m: Push a new commit instead of an amended one";
        let lines = hanging(line, 40);
        let plain: Vec<String> = lines.iter().map(|line| strip_str(line).to_string()).collect();
        let expected =
            ["  ✗ blocked by hook guard: Push a new", "    commit instead of an amended one"];
        assert_eq!(plain, expected);
        assert!(lines[0].contains("\x1b[1mguard\x1b[0m"), "{lines:?}");
        assert_eq!(hanging("short", 40), ["short"]);
        let whole = hanging(&"x".repeat(100), 40).concat().replace(' ', "");
        assert_eq!(whole.len(), 100);
    }

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrap("one two  three", 8), ["one two", "three"]);
        assert_eq!(wrap("one two  three", 14), ["one two  three"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("  a b ", 3), ["  a", "b"]);
    }

    #[test]
    fn only_words_longer_than_a_line_are_broken() {
        assert_eq!(wrap("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
        assert_eq!(wrap("字字字字", 5), ["字字", "字字"]);
    }

    #[test]
    fn scripts_without_spaces_break_between_characters_but_not_before_punctuation() {
        assert_eq!(wrap("a 漢字漢字", 6), ["a 漢字", "漢字"]);
        assert_eq!(wrap("漢字。漢", 4), ["漢", "字。", "漢"]);
        assert_eq!(wrap("あ（漢", 4), ["あ", "（漢"]);
    }

    #[test]
    fn styles_continue_on_the_next_line() {
        let bold = Style::new().bold();
        let mut line = StyledLine::new(Style::new(), "a ");
        line.push(bold, "b c");
        let lines: Vec<String> = line.wrap(3).iter().map(ToString::to_string).collect();
        assert_eq!(lines, [format!("a {bold}b{bold:#}"), format!("{bold}c{bold:#}")]);
    }
}
