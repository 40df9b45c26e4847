//! Foreign text made safe for a terminal (R44): what hooks, tools and models write may hold escape sequences that would
//! move the cursor, recolour the screen, or forge what the person sees.

use std::borrow::Cow;

/// `text` without control and escape sequences; line ends and tabs stay, a carriage return at a line's end goes.
pub(crate) fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '\x1b' => rest = after_escape(rest),
            '\r' if rest.starts_with('\n') => {}
            character if is_unsafe(character) => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

/// `text` on one line, sanitised, at most `length` characters long.
pub(crate) fn one_line(text: &str, length: usize) -> String {
    let line = sanitize(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= length {
        return line;
    }
    let kept: String = line.chars().take(length.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Control characters, and those that turn the direction of text, with which a line can be made to read otherwise.
fn is_unsafe(character: char) -> bool {
    let turns_text = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (character.is_control() && character != '\n' && character != '\t') || turns_text
}

/// What follows an escape sequence whose ESC was just read.
fn after_escape(rest: &str) -> &str {
    let mut characters = rest.char_indices();
    match characters.next() {
        // CSI: parameters, then one final byte.
        Some((_, '[')) => match characters.find(|(_, c)| ('\x40'..='\x7e').contains(c)) {
            Some((at, last)) => &rest[at + last.len_utf8()..],
            None => "",
        },
        // OSC, DCS, PM, APC, SOS: up to BEL or ST.
        Some((_, ']' | 'P' | '^' | '_' | 'X')) => match rest.find(['\x07', '\x1b']) {
            Some(at) if rest[at..].starts_with('\x07') => &rest[at + 1..],
            Some(at) => rest[at..].strip_prefix("\x1b\\").unwrap_or(&rest[at..]),
            None => "",
        },
        Some((at, other)) => &rest[at + other.len_utf8()..],
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_and_is_not_copied() {
        assert!(matches!(sanitize("grün\tja\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn escapes_controls_and_direction_marks_go() {
        for (text, safe) in [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07after", "after"),
            ("\x1b]8;;http://x\x1b\\link", "link"),
            ("a\x1b[2Jb\x08c\r\nd\re", "ab\u{fffd}c\nd\u{fffd}e"),
            ("\u{202e}evil", "\u{fffd}evil"),
            ("cut\x1b[", "cut"),
            ("\u{9b}31m", "\u{fffd}31m"),
        ] {
            assert_eq!(sanitize(text), safe, "{text:?}");
        }
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("a\n  b\tc", 80), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }
}
