//! Braces that mean themselves: `main\(\) {` is a regular expression everywhere but in the linear engine, which takes every
//! brace for the beginning of a repetition.

use std::iter::Peekable;
use std::str::CharIndices;

use tenter_protocol::manifest::format::Advice;

/// Escapes that take their argument in braces.
const WITH_BRACES: [char; 6] = ['p', 'P', 'x', 'u', 'U', 'b'];

/// `text` with a backslash before every brace that begins no repetition.
///
/// # Errors
/// A brace that means one thing to some engines and another to others.
pub(super) fn escaped(text: &str) -> Result<String, Advice> {
    let mut escaped = String::with_capacity(text.len() + 1);
    let mut letters = text.char_indices().peekable();
    let mut class = Class::default();
    while let Some((place, letter)) = letters.next() {
        if letter == '{' && !class.is_open() {
            match brace(&text[place..]) {
                Brace::Repetition => {}
                Brace::Literal => escaped.push('\\'),
                Brace::Ambiguous(most) => return Err(ambiguous(most)),
            }
        }
        escaped.push(letter);
        if letter == '\\' {
            copy_escape(&mut letters, &mut escaped);
        } else {
            class.read(letter);
        }
    }
    Ok(escaped)
}

/// What follows a backslash: a letter, and its argument.
fn copy_escape(letters: &mut Peekable<CharIndices<'_>>, escaped: &mut String) {
    let Some((_, letter)) = letters.next() else { return };
    escaped.push(letter);
    if WITH_BRACES.contains(&letter) && letters.peek().is_some_and(|(_, next)| *next == '{') {
        for (_, next) in letters.by_ref() {
            escaped.push(next);
            if next == '}' {
                return;
            }
        }
    }
}

enum Brace<'t> {
    Repetition,
    Literal,
    /// `{,n}` with its number.
    Ambiguous(&'t str),
}

/// What the brace is that `text` begins with.
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

/// Whether a place is inside square brackets, where braces are letters.
#[derive(Default)]
struct Class {
    depth: usize,
    /// Nothing but `^` stands between the last bracket and this place: a closing bracket is a letter here.
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
    fn a_brace_that_begins_no_repetition_means_itself() {
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
            assert_eq!(escaped(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_repetition_without_its_least_number_is_refused() {
        let advice = escaped("x{,3}").unwrap_err();
        assert_eq!(advice.help, r"write `{0,3}` for a repetition, or `\{,3}` for the text");
        assert!(escaped(r"x\{,3}[{,3}]").is_ok());
    }
}
