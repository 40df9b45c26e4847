//! Makes foreign text safe for a terminal (R44): what hooks, tools and models write may hold escape sequences that would
//! move the cursor, recolour the screen, or forge what the user sees, and characters that cannot be seen.

use std::borrow::Cow;

use crate::excerpt;

/// Returns `text` without escape sequences, with U+FFFD for each control and invisible character. Line ends and tabs stay; a
/// carriage return at a line's end is removed.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_suspicious) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '\x1b' => rest = after_escape(rest),
            '\r' if rest.starts_with('\n') => {}
            joiner if is_joiner(joiner) && joins(&safe, rest) => safe.push(joiner),
            character if is_suspicious(character) => safe.push('\u{fffd}'),
            character => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

/// Returns `text` on one line, sanitised, at most `length` characters long.
pub fn one_line(text: &str, length: usize) -> String {
    excerpt::one_line(&sanitize(text), length)
}

/// Returns `text` on one line, with an escape such as `\n` or `\u{202e}` for each control and invisible character and each line
/// end: a name or path cannot forge anything around it, and names that differ look different.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| {
        character == '\n' || is_suspicious(character) || is_variation_selector(character)
    };
    if !text.chars().any(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => output.extend(character.escape_default()),
            character if is_escaped(character) => output.extend(character.escape_unicode()),
            character => output.push(character),
        }
    }
    Cow::Owned(output)
}

/// Returns true if a character may be unsafe to show: control characters, separators that break a line, and everything that
/// has no shape of its own. The last are Unicode's `Default_Ignorable_Code_Point`, which includes the characters that turn
/// the direction of text, zero-width characters and tags, without the variation selectors that emoji use.
fn is_suspicious(character: char) -> bool {
    let is_control = character.is_control() && character != '\n' && character != '\t';
    let is_annotation = matches!(character, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}');
    is_control || is_annotation || is_invisible(character)
}

/// Returns true if a character only selects a shape of the one before it, as emoji need it. In a name it hides a
/// difference.
fn is_variation_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}')
}

fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns the zero-width joiner and non-joiner.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// Returns true if a joiner between these texts has a visible effect: emoji and several scripts need it, ASCII never does.
fn joins(before: &str, after: &str) -> bool {
    let is_joined = |character: char| !character.is_ascii() && !is_invisible(character);
    before.chars().next_back().is_some_and(is_joined) && after.chars().next().is_some_and(is_joined)
}

/// Returns the text after an escape sequence, given the text after its ESC.
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
    fn escapes_controls_and_invisible_characters_are_replaced() {
        for (text, safe) in [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07after", "after"),
            ("\x1b]8;;http://x\x1b\\link", "link"),
            ("a\x1b[2Jb\x08c\r\nd\re", "ab\u{fffd}c\nd\u{fffd}e"),
            ("\u{202e}evil", "\u{fffd}evil"),
            ("cut\x1b[", "cut"),
            ("\u{9b}31m", "\u{fffd}31m"),
            ("a\u{61c}b", "a\u{fffd}b"),
            ("rm\u{200b} -rf\u{2060}\u{feff}", "rm\u{fffd} -rf\u{fffd}\u{fffd}"),
            ("ok\u{e0069}\u{e007f}", "ok\u{fffd}\u{fffd}"),
            ("one\u{2028}two", "one\u{fffd}two"),
            ("gu\u{fff9}ard", "gu\u{fffd}ard"),
            ("gu\u{200d}ard", "gu\u{fffd}ard"),
        ] {
            assert_eq!(sanitize(text), safe, "{text:?}");
        }
    }

    #[test]
    fn emoji_and_scripts_keep_their_joiners() {
        for text in ["👩\u{200d}💻", "❤\u{fe0f}\u{200d}🔥", "می\u{200c}خواهم"] {
            assert_eq!(sanitize(text), text);
        }
    }

    #[test]
    fn every_invisible_character_is_replaced() {
        let invisible =
            regex::Regex::new(r"^[\p{Default_Ignorable_Code_Point}--[\u{fe00}-\u{fe0f}]]$")
                .unwrap();
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let text = character.to_string();
            assert_eq!(is_invisible(character), invisible.is_match(&text), "{character:?}");
        }
    }

    #[test]
    fn names_are_shown_on_one_line_with_what_cannot_be_seen() {
        assert!(matches!(visible("größe.sh"), Cow::Borrowed(_)));
        let forged = "a\r\n  guard\x1b[2K\u{202e}\u{200b}\u{e0041}";
        assert_eq!(visible(forged), r"a\r\n  guard\u{1b}[2K\u{202e}\u{200b}\u{e0041}");
    }

    #[test]
    fn names_that_differ_look_different() {
        for other in ["guard\u{fe00}", "guard\u{200d}", "guard\u{fffb}", "guard\n"] {
            assert_ne!(visible(other), visible("guard"), "{other:?}");
            assert!(visible(other).is_ascii(), "{other:?}");
        }
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("a\n  b\tc", 80), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }
}
