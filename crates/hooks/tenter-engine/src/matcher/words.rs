//! Expressions that consist of words only, such as `^Shell$`, `file_write|file_edit` and `git push`. Most matchers do, and compiling
//! them as regular expressions would take more time and memory than everything else that a hook needs.
//!
//! A search has the result of a regular expression: the leftmost match, and among matches at one place the first
//! alternative. Every other expression is left to the regular expression engine.

use std::ops::Range;

use regex_syntax::hir::{Hir, HirKind, Look};

/// Maximum number of alternatives; an automaton searches for more of them faster.
const MAX_ALTERNATIVES: usize = 8;

/// Words to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    at_start: bool,
    at_end: bool,
    /// The words, in the order of the expression.
    any_of: Vec<String>,
}

impl Words {
    /// Returns the words of an expression; `None` if it has other parts.
    pub(super) fn new(expression: &Hir) -> Option<Self> {
        let mut parts = match expression.kind() {
            HirKind::Concat(parts) => parts.as_slice(),
            _ => std::slice::from_ref(expression),
        };
        let is = |part: &Hir, look| matches!(part.kind(), HirKind::Look(found) if *found == look);
        let at_start = parts.first().is_some_and(|part| is(part, Look::Start));
        parts = &parts[usize::from(at_start)..];
        let at_end = parts.last().is_some_and(|part| is(part, Look::End));
        parts = &parts[..parts.len() - usize::from(at_end)];
        Some(Self { at_start, at_end, any_of: sequences(parts)? })
    }

    /// Returns the place of the first of the words in `text`.
    pub(super) fn find(&self, text: &str) -> Option<Range<usize>> {
        let mut words = self.any_of.iter().map(String::as_str);
        match (self.at_start, self.at_end) {
            (true, true) => words.find(|word| text == *word).map(|word| 0..word.len()),
            (true, false) => words.find(|word| text.starts_with(word)).map(|word| 0..word.len()),
            (false, true) => {
                let longest = words.filter(|word| text.ends_with(word)).map(str::len).max()?;
                Some(text.len() - longest..text.len())
            }
            (false, false) => {
                let places = words.filter_map(|word| Some((text.find(word)?, word.len())));
                let (start, length) = places.min_by_key(|(start, _)| *start)?;
                Some(start..start + length)
            }
        }
    }
}

/// Returns every text that a sequence of parts matches, in the order of preference: `(a|b)c` → `["ac", "bc"]`.
fn sequences(parts: &[Hir]) -> Option<Vec<String>> {
    parts.iter().try_fold(vec![String::new()], |beginnings, part| {
        let ends = alternatives(part)?;
        let longer =
            beginnings.iter().flat_map(|start| ends.iter().map(move |end| start.clone() + end));
        Some(longer.collect()).filter(|words: &Vec<_>| words.len() <= MAX_ALTERNATIVES)
    })
}

/// Returns every text that a part matches, in the order of preference.
fn alternatives(part: &Hir) -> Option<Vec<String>> {
    match part.kind() {
        HirKind::Empty => Some(vec![String::new()]),
        HirKind::Literal(literal) => Some(vec![String::from_utf8(literal.0.to_vec()).ok()?]),
        HirKind::Capture(group) => alternatives(&group.sub),
        HirKind::Concat(parts) => sequences(parts),
        HirKind::Alternation(parts) => {
            let each = parts.iter().map(alternatives).collect::<Option<Vec<_>>>()?;
            Some(each.concat()).filter(|words: &Vec<_>| words.len() <= MAX_ALTERNATIVES)
        }
        HirKind::Class(_) | HirKind::Look(_) | HirKind::Repetition(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(expression: &str) -> Option<Words> {
        Words::new(&regex_syntax::parse(expression).unwrap())
    }

    fn expected(at_start: bool, at_end: bool, expected: &[&str]) -> Words {
        let any_of = expected.iter().map(ToString::to_string).collect();
        Words { at_start, at_end, any_of }
    }

    #[test]
    fn what_matchers_usually_say_is_words() {
        assert_eq!(words("Shell"), Some(expected(false, false, &["Shell"])));
        assert_eq!(words("^Shell$"), Some(expected(true, true, &["Shell"])));
        assert_eq!(
            words("^(WriteFile|file_edit)$"),
            Some(expected(true, true, &["WriteFile", "file_edit"]))
        );
        assert_eq!(words("Write|WriteFile"), Some(expected(false, false, &["Write", "WriteFile"])));
        assert_eq!(
            words(r"rm -rf /|>:/dev/sda|a\.b"),
            Some(expected(false, false, &["rm -rf /", ">:/dev/sda", "a.b"]))
        );
        assert_eq!(words(""), Some(expected(false, false, &[""])));
    }

    #[test]
    fn everything_else_is_left_to_an_engine() {
        for expression in [
            r"\bgit\b",
            "git.*push",
            "(?i)shell",
            "^a$|^b$",
            "(?m)^a",
            "ab?c",
            "[Bb]ash",
            "a{2}",
            "a|bc|de|fg|hi|jk|lm|no|pq",
        ] {
            assert_eq!(words(expression), None, "{expression}");
        }
    }

    proptest! {
        #[test]
        fn words_are_found_where_the_regular_expression_is(
            expression in r"\^?(\(?(ab|a|b|aé|c a|)(\|(ab|a|b|bc|)){0,3}\)?)?\$?",
            text in "[abcé ]{0,8}",
        ) {
            let Ok(regex) = regex::Regex::new(&expression) else { return Ok(()) };
            let Some(words) = words(&expression) else { return Ok(()) };
            prop_assert_eq!(words.find(&text), regex.find(&text).map(|place| place.range()), "{}", expression);
        }
    }
}
