//! Literals that a regular expression needs: every text that it matches contains one of them. A text without them is ruled out
//! before the expression is compiled.

use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Hir, HirKind};

/// Maximum number of literals of one expression; more of them rule out too little for what they cost.
const MAX_LITERALS: usize = 64;

/// Maximum number of literals that start or end a match: in upper and lower case, a word of four letters has as many.
const MOST_VARIANTS: usize = 16;

/// Number of bytes from which on a literal is rare enough that being the only one counts more than being longer.
const RARE: usize = 3;

/// Byte strings, one of which is in every text that an expression matches. None of them is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Literals(Vec<Box<[u8]>>);

impl Literals {
    /// Creates the literals that `expression` needs; `None` if none are known.
    pub(super) fn new(expression: &str) -> Option<Self> {
        required(&regex_syntax::parse(expression).ok()?)
    }

    /// Returns these literals; `None` if a text could not contain any of them.
    pub(super) fn from_texts(texts: Vec<String>) -> Option<Self> {
        within_limit(texts.into_iter().map(|text| text.into_bytes().into()).collect())
    }

    /// Returns the literals as texts; `None` if one of them is part of a character.
    pub(super) fn to_texts(&self) -> Option<Vec<String>> {
        self.iter().map(|literal| String::from_utf8(literal.to_vec()).ok()).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Returns whether one of them is in `text`.
    pub(super) fn is_any_in(&self, text: &str) -> bool {
        self.iter().any(|literal| match std::str::from_utf8(literal) {
            Ok(literal) => text.contains(literal),
            Err(_) => text.as_bytes().windows(literal.len()).any(|window| window == literal),
        })
    }

    /// Compares literals by the texts that they rule out and by their cost: short ones are in many texts, and each one is searched for.
    fn strength(&self) -> (usize, usize, usize) {
        let shortest = self.iter().map(<[u8]>::len).min().unwrap_or(0);
        (shortest.min(RARE), MAX_LITERALS.saturating_sub(self.0.len()), shortest)
    }
}

/// Returns the literals that rule out the most: at the start or the end of a match, or in a part that is in every match.
fn required(part: &Hir) -> Option<Literals> {
    let ends = [ExtractKind::Prefix, ExtractKind::Suffix].map(|kind| at_an_end(part, kind));
    let inner = match part.kind() {
        HirKind::Capture(group) => required(&group.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(required).max_by_key(Literals::strength),
        HirKind::Alternation(parts) => any_of(parts),
        _ => None,
    };
    ends.into_iter().flatten().chain(inner).max_by_key(Literals::strength)
}

/// Returns the literals of all alternatives, if all have some.
fn any_of(parts: &[Hir]) -> Option<Literals> {
    let each = parts.iter().map(required).collect::<Option<Vec<_>>>()?;
    within_limit(each.into_iter().flat_map(|literals| literals.0).collect())
}

/// Returns the literals with which every match starts, or ends.
fn at_an_end(part: &Hir, kind: ExtractKind) -> Option<Literals> {
    let sequence: Seq = Extractor::new().kind(kind).limit_total(MOST_VARIANTS).extract(part);
    let literals = sequence.literals()?;
    within_limit(literals.iter().map(|literal| literal.as_bytes().into()).collect())
}

fn within_limit(literals: Vec<Box<[u8]>>) -> Option<Literals> {
    let is_useful = !literals.is_empty() && literals.len() <= MAX_LITERALS;
    let is_sound = literals.iter().all(|literal| !literal.is_empty());
    (is_useful && is_sound).then_some(Literals(literals))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn literals(expression: &str) -> Option<Vec<String>> {
        let sequence = Literals::new(expression)?;
        let text = |literal: &[u8]| String::from_utf8_lossy(literal).into_owned();
        Some(sequence.iter().map(text).collect())
    }

    #[test]
    fn the_longest_necessary_part_is_found() {
        for (expression, expected) in [
            ("rm -rf /", vec!["rm -rf /"]),
            (r"rm\s+-rf", vec!["-rf"]),
            (r"\bgit\b.*push --force.*x", vec!["push --force"]),
            ("(sudo|doas) ", vec!["sudo ", "doas "]),
            (r"\.(py|js)$", vec![".py", ".js"]),
            ("(ab){2,}", vec!["abab"]),
        ] {
            let sequence = literals(expression);
            assert_eq!(
                sequence,
                Some(expected.iter().map(ToString::to_string).collect()),
                "{expression}"
            );
        }
    }

    #[test]
    fn nothing_is_known_of_expressions_that_need_no_literal() {
        for expression in ["", "a*", r"\w+", "x|", "(?:ab)?", "[a-z]{3}", "(rm", r"(a)\1"] {
            assert_eq!(literals(expression), None, "{expression}");
        }
    }

    proptest! {
        #[test]
        fn a_text_that_matches_contains_a_literal(
            expression in r"(\^|\\b|\(\?i\))?(\(?(ab|a|b+|aé|c a|[a-c]|.)(\||\*|\?|\{1,2\}|)(ab|a|b|bc|\.)?\)?){1,4}\$?",
            text in "[abcAB é]{0,10}",
        ) {
            let Ok(regex) = regex::Regex::new(&expression) else { return Ok(()) };
            let Some(literals) = Literals::new(&expression) else { return Ok(()) };
            if regex.is_match(&text) {
                prop_assert!(literals.is_any_in(&text), "{expression} on {text}: {literals:?}");
            }
        }
    }
}
