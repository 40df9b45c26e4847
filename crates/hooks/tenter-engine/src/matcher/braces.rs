//! Literal braces: `main\(\) {` is a valid regular expression in most engines, but the linear engine treats every brace
//! as the start of a repetition.

use std::iter::Peekable;
use std::str::CharIndices;

use tenter_protocol::manifest::format::Advice;

/// Escapes with an argument in braces.
const WITH_BRACES: [char; 6] = ['p', 'P', 'x', 'u', 'U', 'b'];

/// Escapes every brace in `text` that does not start a repetition.
///
/// # Errors
/// A brace that is a repetition for some engines and literal for others.
pub(super) fn escape(text: &str) -> Result<String, Advice> {
    let mut escaped_text = String::with_capacity(text.len() + 1);
    let mut letters = text.char_indices().peekable();
    let mut class = Class::default();
    while let Some((place, letter)) = letters.next() {
        if letter == '{' && !class.is_open() {
            match brace(&text[place..]) {
                Brace::Repetition => {}
                Brace::Literal => escaped_text.push('\\'),
                Brace::Ambiguous(most) => return Err(ambiguous(most)),
            }
        }
        escaped_text.push(letter);
        if letter == '\\' {
            copy_escape(&mut letters, &mut escaped_text);
        } else {
            class.read(letter);
        }
    }
    Ok(escaped_text)
}

/// Copies the rest of an escape: a letter, and its argument.
fn copy_escape(letters: &mut Peekable<CharIndices<'_>>, output: &mut String) {
    let Some((_, letter)) = letters.next() else { return };
    output.push(letter);
    if WITH_BRACES.contains(&letter) && letters.peek().is_some_and(|(_, next)| *next == '{') {
        for (_, next) in letters.by_ref() {
            output.push(next);
            if next == '}' {
                return;
            }
        }
    }
}

enum Brace<'t> {
    Repetition,
    Literal,
    /// `{,n}`, with its number.
    Ambiguous(&'t str),
}

/// Returns the kind of the brace at the start of `text`.
fn brace(text: &str) -> Brace<'_> {
    let Some((inner, _)) = text[1..].split_once('}') else { return Brace::Literal };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match inner.split_once(',') {
        None if is_number(inner) => Brace::Repetition,
        Some(("", most)) if is_number(most) => Brace::Ambiguous(most),
        Some((least, most)) if is_number(least) && (most.is_empty() || is_number(most)) => {
            Brace::Repetition
        }
        _ => Brace::Literal,
    }
}

fn ambiguous(most: &str) -> Advice {
    Advice {
        message: format!(
            "`{{,{most}}}` is a repetition to some engines and literal text to others"
        ),
        help: format!("write `{{0,{most}}}` for a repetition, or `\\{{,{most}}}` for the text"),
    }
}

/// Tracks whether a position is inside a character class, where braces are literal.
#[derive(Default)]
struct Class {
    depth: usize,
    /// Only `^` has followed the opening bracket: a closing bracket is literal here.
    is_at_start: bool,
}

impl Class {
    fn is_open(&self) -> bool {
        self.depth > 0
    }

    fn read(&mut self, letter: char) {
        match letter {
            '[' => {
                self.depth += 1;
                self.is_at_start = true;
                return;
            }
            '^' if self.is_at_start => return,
            ']' if self.is_open() && !self.is_at_start => self.depth -= 1,
            _ => {}
        }
        self.is_at_start = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brace_that_starts_no_repetition_is_literal() {
        for (text, expected) in [
            ("main() {", r"main() \{"),
            ("{\"key\": {", r#"\{"key": \{"#),
            ("a{b}", r"a\{b}"),
            ("a{ 1 }", r"a\{ 1 }"),
            (r"a{2}b{2,}c{2,3}", r"a{2}b{2,}c{2,3}"),
            (r"\{\p{L}\x{41}\b{start}{", r"\{\p{L}\x{41}\b{start}\{"),
            (r"[{]{", r"[{]\{"),
            (r"[]{]{", r"[]{]\{"),
            (r"[^]{][[:alpha:]{]{", r"[^]{][[:alpha:]{]\{"),
            (r"[\]{]{", r"[\]{]\{"),
        ] {
            assert_eq!(escape(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_repetition_without_a_minimum_is_rejected() {
        let advice = escape("x{,3}").unwrap_err();
        assert_eq!(advice.help, r"write `{0,3}` for a repetition, or `\{,3}` for the text");
        assert!(escape(r"x\{,3}[{,3}]").is_ok());
    }
}
