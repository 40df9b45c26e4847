//! Patterns with `*`, `**`, `?` and `[…]`, matched with texts of which parts may be unknown. A glob library cannot do that: a
//! word such as `$DIR/.env` or `*.pem` stands for many texts, and the question is whether a pattern fits one of them.

mod address;
mod letter_pairs;
mod overlap;
mod path_text;
mod truth;

use std::borrow::Cow;
use std::sync::OnceLock;

pub(crate) use address::address_contains;
pub(crate) use letter_pairs::{LetterPairs, name_bit};
pub(crate) use overlap::overlap;
pub(crate) use path_text::{OpenText, PathText, Position, below};
pub use truth::Truth;

/// Maximum number of bytes of a text that is not known for which patterns are compared letter by letter.
const MAX_OPEN_TEXT: usize = 4096;

/// The characters with which a part of a pattern begins that stands for several texts.
pub(crate) const WILDCARDS: [char; 3] = ['*', '?', '['];

/// One element of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    /// `?`: any character but `/`.
    One,
    /// `[…]`: one of these ranges, or none of them.
    Set {
        ranges: Vec<(char, char)>,
        is_negated: bool,
    },
    /// `*` in a path: any text without `/`.
    Star,
    /// Any text.
    Any,
    /// This many of the following tokens are optional.
    Skip(usize),
}

/// A pattern of a rule. Most patterns are ruled out by a text's beginning and its pairs of letters, so that the rest is made when it is
/// needed.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    text: String,
    /// True if it is a pattern for paths, false if it is one for words.
    is_path: bool,
    /// The length of the common beginning of every text that fits, in bytes.
    prefix: usize,
    /// The pairs of letters that every text that fits contains.
    pairs: LetterPairs,
    /// Unless only one text fits, which is the pattern.
    wild: Option<OnceLock<Wild>>,
}

/// The parts of a pattern that several texts fit.
#[derive(Debug, Clone)]
struct Wild {
    tokens: Vec<Token>,
    /// The common end of every text that fits.
    suffix: String,
}

/// A text of a call, and how much of it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'f> {
    pub(crate) value: &'f str,
    /// True if it is known. If not, `$…` and backticks stand for any text.
    pub(crate) is_certain: bool,
    /// True if it is a pattern that the shell replaces by file names.
    pub(crate) is_glob: bool,
}

impl<'f> Text<'f> {
    pub(crate) fn known(text: &'f str) -> Self {
        Self { value: text, is_certain: true, is_glob: false }
    }

    /// Returns whether parts of it are unknown. A text can be known although it is not certain that it is used.
    pub(crate) fn has_unknown_parts(&self) -> bool {
        !self.is_certain && (self.value.contains(['$', '`']) || self.value.contains("{}"))
    }

    /// Returns the texts that it may stand for, as a pattern.
    pub(crate) fn tokens(&self) -> Vec<Token> {
        // Longer than any path: it may stand for anything.
        if self.value.len() > MAX_OPEN_TEXT && (self.is_glob || !self.is_certain) {
            return vec![Token::Any];
        }
        let mut tokens = Vec::with_capacity(self.value.len());
        let mut rest = self.value;
        while let Some(letter) = rest.chars().next() {
            let unknown = if self.is_certain { 0 } else { unknown_length(rest) };
            let wild = if self.is_glob { wildcard(rest) } else { None };
            let length = match wild {
                _ if unknown > 0 => {
                    tokens.push(Token::Any);
                    unknown
                }
                Some((token, length)) => {
                    tokens.push(token);
                    length
                }
                None => {
                    tokens.push(Token::Char(letter));
                    letter.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        tokens
    }
}

/// Returns the length of `$name`, `${…}`, `$(…)`, `{}` or a command in backticks at the beginning of a text; 0 if there is none.
fn unknown_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let closing = |close: u8| bytes.iter().skip(1).position(|byte| *byte == close).map(|at| at + 2);
    match bytes {
        [b'`', ..] => closing(b'`').unwrap_or(bytes.len()),
        // What `xargs` and `find` put there.
        [b'{', b'}', ..] => 2,
        [b'$', b'{', ..] => closing(b'}').unwrap_or(bytes.len()),
        [b'$', b'(', ..] => {
            let last = text.rfind(')').map(|at| at + 1);
            last.unwrap_or(bytes.len())
        }
        [b'$', ..] => {
            let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let name = bytes[1..].iter().take_while(is_name).count();
            // `$?`, `$@` and the like have one character, which is not always ASCII.
            let special = text[1..].chars().next().map_or(0, char::len_utf8);
            1 + if name == 0 { special } else { name }
        }
        _ => 0,
    }
}

/// Returns a wildcard at the beginning of a text, and its length.
fn wildcard(text: &str) -> Option<(Token, usize)> {
    match text.as_bytes() {
        [b'*', b'*', ..] => Some((Token::Any, 2)),
        [b'*', ..] => Some((Token::Star, 1)),
        [b'?', ..] => Some((Token::One, 1)),
        [b'[', ..] => set(text),
        _ => None,
    }
}

/// Reads `[…]`; none if it has no end.
fn set(text: &str) -> Option<(Token, usize)> {
    let inner = &text[1..];
    let is_negated = inner.starts_with(['!', '^']);
    let start = usize::from(is_negated);
    // A `]` at the beginning is a member.
    let first = inner[start..].chars().next()?.len_utf8();
    let end = start + first + inner[start + first..].find(']')?;
    let letters: Vec<char> = inner[start..end].chars().collect();
    let mut ranges = Vec::new();
    let mut place = 0;
    while let Some(letter) = letters.get(place) {
        let last = letters.get(place + 2).filter(|_| letters.get(place + 1) == Some(&'-'));
        ranges.push((*letter, *last.unwrap_or(letter)));
        place += if last.is_some() { 3 } else { 1 };
    }
    Some((Token::Set { ranges, is_negated }, end + 2))
}

impl Pattern {
    /// Returns a pattern for words: `*` is any text.
    pub(crate) fn parse_words(pattern: &str) -> Self {
        Self::new(pattern, false)
    }

    /// Returns a pattern for paths: `*` does not contain `/`, `**/` is any number of directories, and `DIR/**` is also `DIR`.
    pub(crate) fn parse_paths(pattern: &str) -> Self {
        Self::new(pattern, true)
    }

    fn new(text: &str, is_path: bool) -> Self {
        let mut prefix = None;
        let mut pairs = LetterPairs::default();
        // The run of letters that is open starts at `start`, and everything before `at` was looked at.
        let (mut start, mut at) = (0, 0);
        while let Some(place) = text[at..].find(WILDCARDS).map(|offset| at + offset) {
            let Some((_, length)) = wildcard(&text[place..]) else {
                at = place + 1;
                continue;
            };
            let before = &text[start..place];
            let follows_slash = place == 0 || text[..place].ends_with('/');
            let is_skip = is_path && follows_slash && text[place..].starts_with("**/");
            // `DIR/**` is also `DIR`.
            let is_rest = is_path && !is_skip && &text[place..] == "**";
            let run = before.strip_suffix('/').filter(|_| is_rest).unwrap_or(before);
            prefix = prefix.or(Some(run.len()));
            pairs = pairs.with(LetterPairs::new(run));
            at = place + if is_skip { 3 } else { length };
            start = at;
        }
        Self {
            text: text.to_owned(),
            is_path,
            prefix: prefix.unwrap_or(text.len()),
            pairs: pairs.with(LetterPairs::new(&text[start..])),
            wild: prefix.map(|_| OnceLock::new()),
        }
    }

    /// Returns the pattern as written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the common beginning of every text that fits.
    pub(crate) fn prefix(&self) -> &str {
        &self.text[..self.prefix]
    }

    /// Returns the only text that fits.
    pub(crate) fn literal(&self) -> Option<&str> {
        self.wild.is_none().then_some(&self.text)
    }

    /// Returns the parts of a pattern that several texts fit.
    fn wild(&self) -> Option<&Wild> {
        let make = || {
            Wild::new(if self.is_path { path_tokens(&self.text) } else { word_tokens(&self.text) })
        };
        self.wild.as_ref().map(|wild| wild.get_or_init(make))
    }

    /// Returns whether every text fits.
    pub(crate) fn fits_all(&self) -> bool {
        self.fits_beginning(&[])
    }

    /// Returns whether every text fits that begins as these tokens do: `git+*` fits `git+$URL`.
    fn fits_beginning(&self, tokens: &[Token]) -> bool {
        let own = self.wild().map(|wild| wild.tokens.as_slice());
        let Some([letters @ .., Token::Any]) = own else { return false };
        letters.iter().all(|token| matches!(token, Token::Char(_))) && tokens.starts_with(letters)
    }

    /// Checks whether a text with these pairs of letters can fit, as written.
    pub(crate) fn may_match(&self, pairs: LetterPairs) -> bool {
        pairs.contain(self.pairs)
    }

    /// Returns whether it fits this text, as written.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if self.wild.is_none() {
            return self.text == text;
        }
        if !text.starts_with(self.prefix()) || !self.may_match(LetterPairs::new(text)) {
            return false;
        }
        let Some(wild) = self.wild().filter(|wild| text.ends_with(&wild.suffix)) else {
            return false;
        };
        let letters: Vec<Token> = text.chars().map(Token::Char).collect();
        overlap(&wild.tokens, &letters)
    }

    /// Returns whether it fits a text that may be partly unknown.
    pub(crate) fn fits(&self, text: Text<'_>) -> Truth {
        if !text.is_certain && text.value.len() > MAX_OPEN_TEXT {
            return if self.fits_all() { Truth::Yes } else { Truth::Perhaps };
        }
        let is_known = text.is_certain || !text.has_unknown_parts();
        let as_written = self.matches(text.value);
        match (as_written, is_known) {
            (true, true) if text.is_certain => Truth::Yes,
            (true, _) if self.fits_beginning(&text.tokens()) => Truth::Yes,
            (true, _) => Truth::Perhaps,
            (false, true) if !text.is_glob && text.is_certain => Truth::No,
            _ => self.may_fit(&text.tokens()),
        }
    }

    /// Returns whether it fits one of the texts that these tokens stand for.
    pub(crate) fn may_fit(&self, tokens: &[Token]) -> Truth {
        if tokens == [Token::Any] {
            return Truth::Perhaps;
        }
        if self.has_other_end(tokens) {
            return Truth::No;
        }
        if overlap(&self.tokens(), tokens) { Truth::Perhaps } else { Truth::No }
    }

    /// Checks whether these tokens end in other letters than every text that fits.
    fn has_other_end(&self, tokens: &[Token]) -> bool {
        let own = self.wild().map_or(&self.text, |wild| &wild.suffix).chars().rev();
        let others = tokens.iter().rev().map_while(|token| match token {
            Token::Char(letter) => Some(*letter),
            _ => None,
        });
        own.zip(others).any(|(one, other)| one != other)
    }

    fn tokens(&self) -> Cow<'_, [Token]> {
        match self.wild() {
            Some(wild) => Cow::Borrowed(&wild.tokens),
            None => Cow::Owned(self.text.chars().map(Token::Char).collect()),
        }
    }
}

impl Wild {
    fn new(tokens: Vec<Token>) -> Self {
        // Where the letters begin of which none is optional.
        let fixed = tokens.iter().enumerate().filter_map(|(at, token)| match token {
            Token::Char(_) => None,
            Token::Skip(count) => Some(at + 1 + count),
            _ => Some(at + 1),
        });
        let fixed = fixed.max().unwrap_or(0).min(tokens.len());
        let letter = |token: &Token| match token {
            Token::Char(letter) => Some(*letter),
            _ => None,
        };
        let suffix = tokens[fixed..].iter().filter_map(letter).collect();
        Self { tokens, suffix }
    }
}

fn word_tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Text { is_glob: true, ..Text::known(pattern) }.tokens();
    for token in &mut tokens {
        if *token == Token::Star {
            *token = Token::Any;
        }
    }
    tokens
}

fn path_tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while !rest.is_empty() {
        let is_start = tokens.is_empty() || tokens.last() == Some(&Token::Char('/'));
        if is_start && let Some(after) = rest.strip_prefix("**/") {
            tokens.extend([Token::Skip(2), Token::Any, Token::Char('/')]);
            rest = after;
        } else if rest == "/**" {
            tokens.extend([Token::Skip(2), Token::Char('/'), Token::Any]);
            rest = "";
        } else {
            let (token, length) = wildcard(rest).unwrap_or_else(|| {
                let letter = rest.chars().next().unwrap_or_default();
                (Token::Char(letter), letter.len_utf8().max(1))
            });
            tokens.push(token);
            rest = &rest[length..];
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(pattern: &str, text: &str) -> bool {
        Pattern::parse_paths(pattern).matches(text)
    }

    #[test]
    fn a_star_does_not_cross_slashes_in_paths_and_two_do() {
        for (pattern, text) in [
            ("/a/*", "/a/b"),
            ("/a/*", "/a/.b"),
            ("/a/**", "/a/b/c"),
            ("/a/**", "/a"),
            ("/a/**/c", "/a/c"),
            ("/a/**/c", "/a/b/b/c"),
            ("**/.env", "/x/y/.env"),
            ("**/.env", ".env"),
            ("/a/?.[a-c]x", "/a/b.cx"),
            ("/a/[!x]", "/a/y"),
            ("/a/[]]", "/a/]"),
            ("/a/[", "/a/["),
        ] {
            assert!(path(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("/a/*", "/a/b/c"),
            ("/a/*", "/a"),
            ("/a/**", "/ab"),
            ("**/.env", "/x/y.env"),
            ("/a/?", "/a//"),
            ("/a/[!x]", "/a/x"),
            ("/a", "/a/b"),
        ] {
            assert!(!path(pattern, text), "{pattern} {text}");
        }
        assert!(Pattern::parse_words("+*").matches("+refs/heads/main"));
    }

    #[test]
    fn unknown_parts_make_a_fit_uncertain() {
        let fits = |pattern: &str, text: &str, is_certain, is_glob| {
            Pattern::parse_paths(pattern).fits(Text { value: text, is_certain, is_glob })
        };
        assert_eq!(fits("**/.env", "$DIR/.env", false, false), Truth::Perhaps);
        assert_eq!(fits("**/.env", "$FILE", false, false), Truth::Perhaps);
        assert_eq!(fits("/etc/**", "/home/$X", false, false), Truth::No);
        assert_eq!(fits("/etc/**", "/e${X}c/y", false, false), Truth::Perhaps);
        assert_eq!(fits("/etc/**", "/$(echo etc)/y", false, false), Truth::Perhaps);
        assert_eq!(fits("**/.env", "/p/.e*", true, true), Truth::Perhaps);
        assert_eq!(fits("**/.env", "/p/*.rs", true, true), Truth::No);
        assert_eq!(fits("/etc/**", "/etc/*", true, true), Truth::Yes);
        assert_eq!(fits("**", "$X", false, false), Truth::Yes);
        for (pattern, text, expected) in [
            ("git+*", "git+$URL", Truth::Yes),
            ("git+*", "gi$X", Truth::Perhaps),
            ("+?*", "+$BRANCH", Truth::Perhaps),
            ("a*b*", "a$X", Truth::Perhaps),
            ("https://*", "https://$HOST/a", Truth::Yes),
        ] {
            let text = Text { is_certain: false, ..Text::known(text) };
            assert_eq!(Pattern::parse_words(pattern).fits(text), expected, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn any_pattern_and_text_terminate(pattern in "[a*?/.$\\[\\]!-]{0,12}", text in "[a/.*$(){}`]{0,12}") {
            for pattern in [Pattern::parse_paths(&pattern), Pattern::parse_words(&pattern)] {
                for (is_certain, is_glob) in [(true, false), (false, false), (true, true), (false, true)] {
                    pattern.fits(Text { value: &text, is_certain, is_glob });
                }
            }
        }

        /// A text that fits for certain also fits when nothing is certain.
        #[test]
        fn uncertainty_never_turns_a_fit_into_a_mismatch(pattern in "[ab*?/]{0,8}", text in "[ab/]{0,8}") {
            let pattern = Pattern::parse_paths(&pattern);
            let certain = pattern.fits(Text::known(&text));
            let uncertain = pattern.fits(Text { is_certain: false, ..Text::known(&text) });
            prop_assert_eq!(certain == Truth::No, uncertain == Truth::No);
        }

        /// The letters at the end only save time.
        #[test]
        fn what_ends_in_other_letters_does_not_fit(pattern in "[ab*/]{0,8}", text in "[ab*/]{0,8}") {
            let (one, other) = (Pattern::parse_paths(&pattern), Pattern::parse_words(&text));
            let (one_tokens, other_tokens) = (one.tokens(), other.tokens());
            let do_overlap = overlap(&one_tokens, &other_tokens);
            prop_assert!(!(do_overlap && one.has_other_end(&other_tokens)));
        }

        /// The prefix, the suffix and the pairs of letters only save time.
        #[test]
        fn a_pattern_fits_what_it_is_made_of(text in "[ab/.]{0,10}", place in 0_usize..10) {
            let place = text.char_indices().map(|(at, _)| at).nth(place).unwrap_or(text.len());
            let pattern = format!("{}**{}", &text[..place], &text[place..]);
            prop_assert!(Pattern::parse_words(&pattern).matches(&text));
        }

        #[test]
        fn what_is_ruled_out_early_does_not_fit(pattern in "[ab*?/.\\[\\]]{0,10}", text in "[ab/.]{0,8}") {
            for pattern in [Pattern::parse_paths(&pattern), Pattern::parse_words(&pattern)] {
                let letters: Vec<Token> = text.chars().map(Token::Char).collect();
                prop_assert_eq!(pattern.matches(&text), overlap(&pattern.tokens(), &letters));
                prop_assert!(pattern.tokens().iter().zip(pattern.prefix().chars()).all(|(token, letter)| *token == Token::Char(letter)));
            }
        }
    }
}
