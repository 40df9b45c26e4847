//! One regular expression: which engine it needs, made when it is first used, and bounded in memory and steps (R21).

use std::ops::Range;
use std::sync::OnceLock;

use regex_syntax::ast::ErrorKind;

use super::words::Words;

/// Bytes that a compiled expression may take.
const SIZE_LIMIT: usize = 4 << 20;

/// Steps back that one search of the backtracking engine may take.
const STEP_LIMIT: usize = 1_000_000;

/// Bytes of the longest text that the backtracking engine searches. The step limit does not count what a look-around such
/// as `(?=.*x)` reads, which at every place may be the whole rest.
const LONGEST_BACKTRACKED: usize = 64 << 10;

/// Instructions that a program of the backtracking engine may have.
const PROGRAM_LIMIT: usize = 20_000;

/// Bytes that each piece of such a program may take, of which there is one for each look-around.
const PIECE_LIMIT: usize = 1 << 20;

/// Bytes of the longest expression for the backtracking engine, which bounds the number of its pieces.
const LONGEST_WITH_PIECES: usize = 1_000;

/// Bytes of the longest expression that is looked at: parsing alone takes a thousand times as much memory.
const LONGEST: usize = 10_000;

const SLOW: &str = "it needs look-around or back-references, and so a slower engine, which gives up on texts over 64 KiB and \
                    on searches of more than a million steps; the hook has failed then";
const TOO_LONG: &str = "the text is over 64 KiB, which is too long for an expression with look-around or back-references";
const TOO_SLOW: &str = "the search was given up after a million steps, as happens when an expression with look-around or \
                        back-references repeats repetitions";

/// A regular expression as it was written, and what searches for it as soon as somebody has.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    text: String,
    engine: OnceLock<Result<Engine, String>>,
}

#[derive(Debug, Clone)]
enum Engine {
    /// For words, which need not be compiled.
    Words(Words),
    /// Time linear in the text.
    Linear(regex::Regex),
    /// For look-around and back-references; bounded by [`STEP_LIMIT`] and [`LONGEST_BACKTRACKED`].
    Backtracking(fancy_regex::Regex),
}

/// Checks a part of a matcher as its author wrote it. A warning says that it needs the backtracking engine, whose searches
/// are bounded.
///
/// # Errors
/// Why no engine can compile it.
pub fn check(text: &str) -> Result<Option<String>, String> {
    match engine_for(text)? {
        Engine::Words(_) | Engine::Linear(_) => Ok(None),
        Engine::Backtracking(_) => Ok(Some(SLOW.to_owned())),
    }
}

impl Expression {
    /// An expression. What is wrong with it is found out by [`check`], or when it is first used.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), engine: OnceLock::new() }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Where the expression is first found in `text`.
    ///
    /// # Errors
    /// Why the search was given up, or that no engine knows the expression.
    pub(super) fn find(&self, text: &str) -> Result<Option<Range<usize>>, String> {
        match self.engine()? {
            Engine::Words(words) => Ok(words.find(text)),
            Engine::Linear(regex) => Ok(regex.find(text).map(|found| found.range())),
            Engine::Backtracking(_) if text.len() > LONGEST_BACKTRACKED => Err(TOO_LONG.to_owned()),
            Engine::Backtracking(regex) => match regex.find(text) {
                Ok(found) => Ok(found.map(|found| found.range())),
                Err(_) => Err(TOO_SLOW.to_owned()),
            },
        }
    }

    fn engine(&self) -> Result<&Engine, String> {
        self.engine.get_or_init(|| engine_for(&self.text)).as_ref().map_err(Clone::clone)
    }
}

/// The cheapest engine that can search for `text`.
fn engine_for(text: &str) -> Result<Engine, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    match regex_syntax::parse(text) {
        Ok(parsed) => {
            Words::of(&parsed).map_or_else(|| linear(text), |words| Ok(Engine::Words(words)))
        }
        Err(error) => backtracking(text, &error),
    }
}

fn linear(text: &str) -> Result<Engine, String> {
    let built = regex::RegexBuilder::new(text).size_limit(SIZE_LIMIT).build();
    built.map(Engine::Linear).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            format!("it takes more than {} MiB when it is compiled", SIZE_LIMIT >> 20)
        }
        other => other.to_string(),
    })
}

/// Compiles what the linear engine could not, as `error` says.
fn backtracking(text: &str, error: &regex_syntax::Error) -> Result<Engine, String> {
    if text.len() > LONGEST_WITH_PIECES {
        let why = in_words(error);
        return Err(format!("{why}, and it is too long for the engine that knows more"));
    }
    let built = fancy_regex::RegexBuilder::new(text)
        .backtrack_limit(STEP_LIMIT)
        .delegate_size_limit(PIECE_LIMIT)
        .delegate_dfa_size_limit(PIECE_LIMIT)
        .max_prog_size(PROGRAM_LIMIT)
        .build();
    built.map(Engine::Backtracking).map_err(|backtracking| match error {
        // What the linear engine says of these is that it lacks them, not what is wrong with them.
        regex_syntax::Error::Parse(linear) if is_for_backtracking(linear.kind()) => {
            format!("it is no regular expression: {backtracking}")
        }
        _ => in_words(error),
    })
}

fn is_for_backtracking(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference)
}

/// What is wrong and where, on one line.
fn in_words(error: &regex_syntax::Error) -> String {
    let (what, place) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.column),
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.column)
        }
        other => return other.to_string(),
    };
    format!("it is no regular expression: {what} (at character {place})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_made_at_the_first_use() {
        for (text, found) in [(r"\.(py|js|ts)$", 5..8), (r"\.p[y]", 5..8), ("src", 0..3)] {
            let expression = Expression::new(text);
            assert!(expression.engine.get().is_none());
            assert_eq!(expression.find("src/a.py").unwrap(), Some(found), "{text}");
            assert!(expression.engine.get().is_some());
        }
    }

    #[test]
    fn what_nobody_checked_is_an_error_when_it_is_used() {
        let error = Expression::new("(rm").find("rm").unwrap_err();
        assert_eq!(Err(error), check("(rm"));
    }

    #[test]
    fn an_expression_that_would_eat_memory_is_refused_before_it_is_used() {
        for text in [r"\w{1000}{1000}", r"(?:a{1000}){1000}", r"((a{100}){100}){100}"] {
            let error = check(text).unwrap_err();
            assert!(error.contains("more than 4 MiB"), "{error}");
        }
        assert!(check(&r"\w".repeat(500)).is_err());
        assert!(check(r"(?!a)\w{1000}").is_err());
        assert!(check(&r"(?!a)".repeat(1_000)).is_err());
    }

    #[test]
    fn an_expression_that_calls_itself_over_and_over_is_refused() {
        let doubled = |group| format!(r"(\g<{group}>\g<{group}>)");
        let text = r"(x(?!y))".to_owned() + &(1..20).map(doubled).collect::<String>();
        assert!(check(&text).is_err());
    }

    #[test]
    fn look_around_and_back_references_work_and_are_warned_of() {
        for (text, on, found) in [
            (r"rm (?!-i)", "rm -f x", Some(0..3)),
            (r"rm (?!-i)", "rm -i x", None),
            (r"(?<!git )push", "docker push", Some(7..11)),
            (r"(\w)\1", "hello", Some(2..4)),
        ] {
            assert_eq!(Expression::new(text).find(on).unwrap(), found, "{text} on {on}");
            assert!(check(text).unwrap().unwrap().contains("slower engine"));
        }
        assert_eq!(check("rm -rf /"), Ok(None));
    }

    #[test]
    fn what_no_engine_knows_is_named_with_its_place() {
        for (text, message) in [
            ("(rm", "it is no regular expression: unclosed group (at character 1)"),
            ("a**[", "it is no regular expression: unclosed character class (at character 4)"),
            (
                r"\p{Klingon}",
                "it is no regular expression: Unicode property not found (at character 1)",
            ),
        ] {
            assert_eq!(check(text), Err(message.to_owned()));
        }
        let error = check("rm (?!-i").unwrap_err();
        assert!(error.contains("without closing parenthesis"), "{error}");
        assert!(check(&"(".repeat(9_000)).is_err());
        assert_eq!(check(&"a".repeat(10_001)), Err("it is longer than 10000 bytes".to_owned()));
    }

    #[test]
    fn catastrophic_backtracking_is_given_up() {
        let expression = Expression::new(r"^(a|a|aa)+\1$");
        let error = expression.find(&("a".repeat(60) + "!")).unwrap_err();
        assert!(error.contains("given up"), "{error}");
    }

    #[test]
    fn the_linear_engine_searches_megabytes_and_the_other_what_it_can_bound() {
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
