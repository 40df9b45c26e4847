//! One regular expression: selects the engine, compiles on first use, and limits memory and steps (R21).

use std::ops::Range;
use std::sync::OnceLock;

use regex_syntax::ast::ErrorKind;
use serde::{Deserialize, Serialize};
use tenter_protocol::manifest::format::Advice;

use super::braces;
use super::literals::Literals;
use super::words::Words;

/// Maximum size of a compiled expression, in bytes.
const SIZE_LIMIT: usize = 4 << 20;

/// Maximum number of backtracking steps of one search.
const STEP_LIMIT: usize = 1_000_000;

/// Maximum length of a text that the backtracking engine searches, in bytes. The step limit does not count what a
/// look-around such as `(?=.*x)` reads, which can be the whole rest of the text at every position.
const LONGEST_BACKTRACKED: usize = 64 << 10;

/// Maximum number of instructions of a backtracking program.
const PROGRAM_LIMIT: usize = 20_000;

/// Maximum size of each part of such a program, in bytes; there is one part for each look-around.
const PIECE_LIMIT: usize = 1 << 20;

/// Maximum length of an expression for the backtracking engine, in bytes; it bounds the number of parts.
const LONGEST_WITH_PIECES: usize = 1_000;

/// Maximum length of any expression, in bytes: parsing needs a thousand times as much memory.
const MAX_LENGTH: usize = 10_000;

const TOO_LONG: &str =
    "the text is over 64 KiB, which is too long for an expression that needs the slower engine";
const TOO_SLOW: &str = "the search was given up after a million steps, as happens when an expression that needs the slower \
                        engine repeats repetitions";
const REPETITION: &str =
    "write `.*` for any text, or a backslash before a character that is meant as itself";
/// Maximum number of characters shown of a feature that the linear engine lacks.
const SHOWN: usize = 3;
const BACKSLASH: &str = "put a backslash before a character that is meant as itself";

/// A regular expression as written, with its engine once it has been used.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "SerializedExpression", into = "SerializedExpression")]
pub(super) struct Expression {
    text: String,
    /// Literals that every matching text contains.
    literals: OnceLock<Option<Literals>>,
    engine: OnceLock<Result<SearchEngine, Advice>>,
}

/// The serialised form of an [`Expression`].
#[derive(Serialize, Deserialize)]
struct SerializedExpression {
    text: String,
    /// The literals, if there are any.
    literals: Option<Vec<String>>,
}

impl From<Expression> for SerializedExpression {
    fn from(expression: Expression) -> Self {
        let literals = expression.literals().and_then(Literals::to_texts);
        Self { literals, text: expression.text }
    }
}

impl From<SerializedExpression> for Expression {
    fn from(SerializedExpression { text, literals }: SerializedExpression) -> Self {
        let literals = OnceLock::from(literals.and_then(Literals::from_texts));
        Self { text, literals, engine: OnceLock::new() }
    }
}

#[derive(Debug, Clone)]
enum SearchEngine {
    /// For plain words, which need no compilation.
    Words(Words),
    /// Linear time.
    Linear(regex::Regex),
    /// For features that the linear engine lacks; limited by [`STEP_LIMIT`] and [`LONGEST_BACKTRACKED`].
    Backtracking {
        regex: fancy_regex::Regex,
        /// The feature that the linear engine lacks.
        reason: String,
    },
}

/// Checks an expression. Advice in an `Ok` says that it needs the backtracking engine, whose searches are limited.
///
/// # Errors
/// The reason why no engine can compile it.
pub(super) fn check(text: &str) -> Result<Option<Advice>, Advice> {
    match engine_for(text)? {
        SearchEngine::Words(_) | SearchEngine::Linear(_) => Ok(None),
        SearchEngine::Backtracking { reason, .. } => Ok(Some(slow(&reason))),
    }
}

fn slow(reason: &str) -> Advice {
    Advice {
        message: format!(
            "it needs {reason}, and so a slower engine, which gives up on texts over 64 KiB and on searches of more than \
             a million steps; the hook runs then as if the text matched"
        ),
        help: format!("write it without {reason} if you can"),
    }
}

impl Expression {
    /// Creates an expression. Errors are found by [`check`], or on first use.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), literals: OnceLock::new(), engine: OnceLock::new() }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns literals, one of which is in every text that matches; `None` if none are known.
    pub(super) fn literals(&self) -> Option<&Literals> {
        let new_literals =
            || (self.text.len() <= MAX_LENGTH).then(|| Literals::new(&self.text)).flatten();
        self.literals.get_or_init(new_literals).as_ref()
    }

    /// Returns the first match in `text`. An expression is not compiled for a text that cannot match.
    ///
    /// # Errors
    /// The reason why the search was aborted, or why the expression is invalid.
    pub(super) fn find(&self, text: &str) -> Result<Option<Range<usize>>, String> {
        let is_ruled_out = || self.literals().is_some_and(|literals| !literals.is_any_in(text));
        if self.engine.get().is_none() && is_ruled_out() {
            return Ok(None);
        }
        self.find_compiled(text)
    }

    /// Returns the same, without the shortcut.
    pub(super) fn find_compiled(&self, text: &str) -> Result<Option<Range<usize>>, String> {
        match self.engine()? {
            SearchEngine::Words(words) => Ok(words.find(text)),
            SearchEngine::Linear(regex) => Ok(regex.find(text).map(|place| place.range())),
            SearchEngine::Backtracking { .. } if text.len() > LONGEST_BACKTRACKED => {
                Err(TOO_LONG.to_owned())
            }
            SearchEngine::Backtracking { regex, .. } => match regex.find(text) {
                Ok(place) => Ok(place.map(|place| place.range())),
                Err(_) => Err(TOO_SLOW.to_owned()),
            },
        }
    }

    fn engine(&self) -> Result<&SearchEngine, String> {
        let engine = self.engine.get_or_init(|| engine_for(&self.text));
        engine.as_ref().map_err(|advice| advice.message.clone())
    }
}

/// Returns the cheapest engine that can search for `text`.
fn engine_for(text: &str) -> Result<SearchEngine, Advice> {
    if text.len() > MAX_LENGTH {
        return Err(refusal(
            format!("it is longer than {MAX_LENGTH} bytes"),
            "write a shorter one",
        ));
    }
    match regex_syntax::parse(text) {
        Ok(expression) => Words::new(&expression)
            .map_or_else(|| linear(text), |words| Ok(SearchEngine::Words(words))),
        Err(error) => lacking(text, &error),
    }
}

/// Returns the engine for an expression that the linear engine rejected with `error`.
fn lacking(text: &str, error: &regex_syntax::Error) -> Result<SearchEngine, Advice> {
    let literal = braces::escape(text)?;
    if is_about_braces(error) && literal != text {
        return engine_for(&literal);
    }
    backtracking(&literal, error)
}

fn is_about_braces(error: &regex_syntax::Error) -> bool {
    let regex_syntax::Error::Parse(error) = error else { return false };
    matches!(
        error.kind(),
        ErrorKind::RepetitionCountDecimalEmpty
            | ErrorKind::RepetitionCountUnclosed
            | ErrorKind::RepetitionMissing
            | ErrorKind::DecimalEmpty
            | ErrorKind::DecimalInvalid
    )
}

fn refusal(message: String, help: &str) -> Advice {
    Advice { message, help: help.to_owned() }
}

fn linear(text: &str) -> Result<SearchEngine, Advice> {
    let regex = regex::RegexBuilder::new(text).size_limit(SIZE_LIMIT).build();
    regex.map(SearchEngine::Linear).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => refusal(
            format!("it takes more than {} MiB when it is compiled", SIZE_LIMIT >> 20),
            "repeat less",
        ),
        other => refusal(other.to_string(), BACKSLASH),
    })
}

/// Compiles what the linear engine rejected with `error`.
fn backtracking(text: &str, error: &regex_syntax::Error) -> Result<SearchEngine, Advice> {
    if text.len() > LONGEST_WITH_PIECES {
        let Advice { message, help } = in_words(error);
        let message = format!("{message}, and it is too long for the engine that supports it");
        return Err(Advice { message, help });
    }
    let regex = fancy_regex::RegexBuilder::new(text)
        .backtrack_limit(STEP_LIMIT)
        .delegate_size_limit(PIECE_LIMIT)
        .delegate_dfa_size_limit(PIECE_LIMIT)
        .max_prog_size(PROGRAM_LIMIT)
        .build();
    match regex {
        Ok(regex) => Ok(SearchEngine::Backtracking { regex, reason: reason(error) }),
        // For these, the linear engine reports a missing feature, not what is wrong.
        Err(backtracking) if is_for_backtracking(error) => {
            Err(refusal(format!("it is not a regular expression: {backtracking}"), BACKSLASH))
        }
        Err(_) => Err(in_words(error)),
    }
}

/// Returns the feature of an expression that the linear engine lacks.
fn reason(error: &regex_syntax::Error) -> String {
    let regex_syntax::Error::Parse(error) = error else { return "more than is usual".to_owned() };
    match error.kind() {
        ErrorKind::UnsupportedLookAround => "look-around".to_owned(),
        ErrorKind::UnsupportedBackreference => "back-references".to_owned(),
        _ => {
            let span = error.span();
            let part = error.pattern().get(span.start.offset..).unwrap_or_default();
            let beginning: String = part.chars().take(SHOWN).collect();
            format!("`{beginning}` at character {}", span.start.column)
        }
    }
}

fn is_for_backtracking(error: &regex_syntax::Error) -> bool {
    let regex_syntax::Error::Parse(error) = error else { return false };
    matches!(error.kind(), ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference)
}

/// Describes an error on one line: its kind, its place, and a correction.
fn in_words(error: &regex_syntax::Error) -> Advice {
    let (what, place, help) = match error {
        regex_syntax::Error::Parse(error) => {
            let place = error.span().start;
            let (what, help) = match error.kind() {
                ErrorKind::RepetitionMissing => {
                    let operator = error.pattern().get(place.offset..).unwrap_or_default();
                    let operator: String = operator.chars().take(1).collect();
                    (format!("`{operator}` has nothing before it to repeat"), REPETITION)
                }
                other => (other.to_string(), BACKSLASH),
            };
            (what, place.column, help)
        }
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.column, BACKSLASH)
        }
        other => return refusal(other.to_string(), BACKSLASH),
    };
    refusal(format!("it is not a regular expression: {what} (at character {place})"), help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_compiled_on_first_use() {
        for (text, range) in [(r"\.(py|js|ts)$", 5..8), (r"\.p[y]", 5..8), ("src", 0..3)] {
            let expression = Expression::new(text);
            assert!(expression.engine.get().is_none());
            assert_eq!(expression.find("src/a.py").unwrap(), Some(range), "{text}");
            assert!(expression.engine.get().is_some());
        }
    }

    #[test]
    fn no_engine_is_compiled_for_a_text_without_the_literals() {
        let expression = Expression::new(r"rm\s+-rf");
        assert_eq!(expression.find("rm file"), Ok(None));
        assert!(expression.engine.get().is_none());
    }

    #[test]
    fn an_unchecked_invalid_expression_is_an_error_on_use() {
        let error = Expression::new("(rm").find("rm").unwrap_err();
        assert_eq!(error, check("(rm").unwrap_err().message);
    }

    #[test]
    fn an_expression_that_needs_too_much_memory_is_rejected() {
        for text in [r"\w{1000}{1000}", r"(?:a{1000}){1000}", r"((a{100}){100}){100}"] {
            let error = check(text).unwrap_err().message;
            assert!(error.contains("more than 4 MiB"), "{error}");
        }
        assert!(check(&r"\w".repeat(500)).is_err());
        assert!(check(r"(?!a)\w{1000}").is_err());
        assert!(check(&r"(?!a)".repeat(1_000)).is_err());
    }

    #[test]
    fn a_recursive_expression_is_rejected() {
        let doubled = |group| format!(r"(\g<{group}>\g<{group}>)");
        let text = r"(x(?!y))".to_owned() + &(1..20).map(doubled).collect::<String>();
        assert!(check(&text).is_err());
    }

    #[test]
    fn look_around_and_back_references_work_with_a_warning() {
        for (text, on, range) in [
            (r"rm (?!-i)", "rm -f x", Some(0..3)),
            (r"rm (?!-i)", "rm -i x", None),
            (r"(?<!git )push", "docker push", Some(7..11)),
            (r"(\w)\1", "hello", Some(2..4)),
        ] {
            assert_eq!(Expression::new(text).find(on).unwrap(), range, "{text} on {on}");
            assert!(check(text).unwrap().unwrap().message.contains("slower engine"));
        }
        assert_eq!(check("rm -rf /"), Ok(None));
    }

    #[test]
    fn literal_braces_need_no_backtracking() {
        let long = "x".repeat(LONGEST_BACKTRACKED) + "main() { return {} }";
        for text in [r"main\(\) {", r"\{ return {}", "{}", "return {", "{ r[a-z]+"] {
            assert_eq!(check(text), Ok(None), "{text}");
            assert!(Expression::new(text).find(&long).unwrap().is_some(), "{text}");
        }
    }

    #[test]
    fn the_reason_names_the_missing_feature() {
        let error = check("x{,3}").unwrap_err();
        assert!(error.message.contains("is a repetition to some engines"), "{error:?}");
        let reason = |text| check(text).unwrap().unwrap().help;
        assert_eq!(reason("main {(?!x)"), "write it without look-around if you can");
        assert_eq!(reason(r"(a)\1"), "write it without back-references if you can");
        assert_eq!(reason(r"\h+"), r"write it without `\h+` at character 1 if you can");
        assert_eq!(reason("(?>a|ab)c"), "write it without `>a|` at character 3 if you can");
    }

    #[test]
    fn syntax_errors_have_a_location() {
        for (text, message) in [
            ("(rm", "it is not a regular expression: unclosed group (at character 1)"),
            ("a**[", "it is not a regular expression: unclosed character class (at character 4)"),
            (
                r"\p{Klingon}",
                "it is not a regular expression: Unicode property not found (at character 1)",
            ),
        ] {
            assert_eq!(check(text).unwrap_err().message, message);
        }
        let error = check("rm (?!-i").unwrap_err().message;
        assert!(error.contains("without closing parenthesis"), "{error}");
        assert!(check(&"(".repeat(9_000)).is_err());
        let error = check(&"a".repeat(10_001)).unwrap_err().message;
        assert_eq!(error, "it is longer than 10000 bytes");
    }

    #[test]
    fn catastrophic_backtracking_is_aborted() {
        let expression = Expression::new(r"^(a|a|aa)+\1$");
        let error = expression.find(&("a".repeat(60) + "!")).unwrap_err();
        assert!(error.contains("given up"), "{error}");
    }

    #[test]
    fn the_linear_engine_searches_megabytes_and_the_other_is_limited() {
        let text = "rm -i x\n".repeat(1 << 18);
        for pattern in [r"(\w+\s*)+\$", r"[a-z]*\d{20}"] {
            assert_eq!(Expression::new(pattern).find(&text), Ok(None), "{pattern}");
        }
        let backtracking = Expression::new(r"rm (?!-i)");
        assert_eq!(backtracking.find(&text[..LONGEST_BACKTRACKED]), Ok(None));
        let error = backtracking.find(&text).unwrap_err();
        assert!(error.contains("over 64 KiB"), "{error}");
    }
}
