//! JSON as real programs write it, as JSON that a strict parser accepts (R82). Only what cannot be read otherwise is replaced;
//! what is not JSON at all stays so.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Words that Python and JavaScript print for numbers that JSON does not have.
const NOT_NUMBERS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
const REPLACEMENT: &str = "\u{fffd}";

/// Returns `bytes` as strict JSON:
///
/// - bytes that are not UTF-8, and escaped surrogates without their other half, become U+FFFD;
/// - control characters in strings become escapes, and a backslash before any other character is one itself;
/// - `NaN` and the infinities become `null`;
/// - a NUL outside of strings is white space.
pub(super) fn repair(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut repaired = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(first) = rest.chars().next() {
        let (length, replacement): (usize, Cow<'_, str>) = match first {
            '"' => {
                let (length, string) = string(rest);
                (length, string.into())
            }
            '\0' => (1, " ".into()),
            'N' | 'I' | '-' => match NOT_NUMBERS.into_iter().find(|word| rest.starts_with(word)) {
                Some(word) => (word.len(), "null".into()),
                None => (1, rest[..1].into()),
            },
            other => (other.len_utf8(), rest[..other.len_utf8()].into()),
        };
        repaired.push_str(&replacement);
        rest = &rest[length..];
    }
    repaired
}

/// Reads the string at the beginning of `text`. Returns its length there, and the string as strict JSON.
fn string(text: &str) -> (usize, String) {
    let mut strict = String::from("\"");
    let mut place = 1;
    while let Some(character) = text[place..].chars().next() {
        match character {
            '"' => {
                strict.push('"');
                return (place + 1, strict);
            }
            '\\' => place += escape(&text[place..], &mut strict),
            '\0'..'\u{20}' => {
                // Writing to memory cannot fail.
                let _ = write!(strict, "\\u{:04x}", u32::from(character));
                place += 1;
            }
            _ => {
                strict.push(character);
                place += character.len_utf8();
            }
        }
    }
    (place, strict)
}

/// Reads the escape at the beginning of `text` and adds it to `strict`. Returns its length.
fn escape(text: &str, strict: &mut String) -> usize {
    match text.as_bytes().get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            strict.push_str(&text[..2]);
            2
        }
        Some(b'u') => match unit(text) {
            Some(0xd800..=0xdbff) if is_low_surrogate(&text[6..]) => {
                strict.push_str(&text[..12]);
                12
            }
            Some(0xd800..=0xdfff) => {
                strict.push_str(REPLACEMENT);
                6
            }
            Some(_) => {
                strict.push_str(&text[..6]);
                6
            }
            None => literal_backslash(strict),
        },
        _ => literal_backslash(strict),
    }
}

fn literal_backslash(strict: &mut String) -> usize {
    strict.push_str(r"\\");
    1
}

fn is_low_surrogate(text: &str) -> bool {
    unit(text).is_some_and(|unit| (0xdc00..=0xdfff).contains(&unit))
}

/// Returns the UTF-16 unit that `text` begins with, written as `\uXXXX`.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix(r"\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}
