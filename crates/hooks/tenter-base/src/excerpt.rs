//! Excerpts: text cut to a length, always on a character boundary.
//!
//! Limits in bytes bound what is stored or sent to a model; the text says how much is missing. Limits in characters bound
//! what is shown on a line; an ellipsis marks the cut.

use std::borrow::Cow;
use std::fmt;

/// Returns the first `max` characters of `text`.
pub fn prefix(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}

/// Returns `text`, or its beginning and `…`: at most `max` characters in all.
pub fn chars(text: &str, max: usize) -> Cow<'_, str> {
    if text.chars().nth(max).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", prefix(text, max.saturating_sub(1))))
}

/// Returns `text` on one line of at most `max` characters: each run of whitespace and control characters becomes a space.
pub fn one_line(text: &str, max: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    chars(&words.join(" "), max).into_owned()
}

/// Returns the first `max_bytes` of `text`, and how many bytes are missing.
pub fn head(text: &str, max_bytes: usize) -> Cow<'_, str> {
    head_before(text, max_bytes, 0)
}

/// Returns the first `max_bytes` of `text`, after which a number of bytes was left out already, and how many bytes are missing.
pub fn head_before(text: &str, max_bytes: usize, left_out: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes && left_out == 0 {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(max_bytes);
    Cow::Owned(format!("{}[… {} bytes omitted]", &text[..end], text.len() - end + left_out))
}

/// Returns the last `max_bytes` of `text`, and how many bytes are missing.
pub fn tail(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    let start = text.ceil_char_boundary(text.len() - max_bytes);
    Cow::Owned(format!("[{start} bytes omitted …]{}", &text[start..]))
}

/// Returns the first and the last half of `max_bytes` of `text`, and how many bytes are missing between them.
pub fn ends(text: &str, max_bytes: usize) -> Cow<'_, str> {
    Ends::new(text, max_bytes).map_or(Cow::Borrowed(text), |ends| Cow::Owned(ends.to_string()))
}

/// The two ends of a text that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends<'a> {
    /// The beginning of the text.
    pub head: &'a str,
    /// Number of bytes between `head` and `tail`.
    pub omitted: usize,
    /// The end of the text.
    pub tail: &'a str,
}

impl<'a> Ends<'a> {
    /// Returns the two ends of `text`, together at most `max_bytes`; `None` if it is not longer than that.
    pub fn new(text: &'a str, max_bytes: usize) -> Option<Self> {
        if text.len() <= max_bytes {
            return None;
        }
        let head = &text[..text.floor_char_boundary(max_bytes / 2)];
        let tail = &text[text.ceil_char_boundary(text.len() - max_bytes / 2)..];
        Some(Self { head, omitted: text.len() - head.len() - tail.len(), tail })
    }
}

impl fmt::Display for Ends<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [… {} bytes omitted …] {}", self.head, self.omitted, self.tail)
    }
}

/// Returns the first `max` lines of `text`, and the number of lines that follow.
pub fn first_lines(text: &str, max: usize) -> (impl Iterator<Item = &str>, usize) {
    (text.lines().take(max), text.lines().count().saturating_sub(max))
}

/// Returns the last `max` lines of `text`, without the line end of the last one.
pub fn last_lines(text: &str, max: usize) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    match max.checked_sub(1) {
        None => "",
        Some(before) => match text.rmatch_indices('\n').nth(before) {
            Some((newline, _)) => &text[newline + 1..],
            None => text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_cut_with_an_ellipsis_within_the_limit() {
        assert_eq!(chars("abcd", 4), "abcd");
        assert_eq!(chars("äöüß!", 4), "äöü…");
        assert_eq!(chars("ab", 0), "…");
        assert_eq!(prefix("äöü", 2), "äö");
        assert_eq!(prefix("äöü", 3), "äöü");
    }

    #[test]
    fn one_line_has_no_line_ends_and_no_control_characters() {
        assert_eq!(one_line(" fix\n\tthe\x1b[1m  test\r\n", 80), "fix the [1m test");
        assert_eq!(one_line(" \n", 80), "");
        assert_eq!(one_line("a bc def", 6), "a bc …");
    }

    #[test]
    fn bytes_are_cut_on_character_boundaries_and_counted() {
        assert_eq!(head("äöü", 6), "äöü");
        assert_eq!(head("äöü", 5), "äö[… 2 bytes omitted]");
        assert_eq!(tail("äöü", 5), "[2 bytes omitted …]öü");
        assert_eq!(ends("äöü", 6), "äöü");
        assert_eq!(ends("aäöüz", 6), "aä [… 2 bytes omitted …] üz");
        assert_eq!(ends("äöü", 2), " [… 6 bytes omitted …] ");
    }

    #[test]
    fn lines_are_taken_from_either_end() {
        let (lines, rest) = first_lines("a\nb\nc\n", 2);
        assert_eq!((lines.collect::<Vec<_>>(), rest), (vec!["a", "b"], 1));
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a\nb", 5), "a\nb");
        assert_eq!(last_lines("a\nb", 0), "");
    }
}
