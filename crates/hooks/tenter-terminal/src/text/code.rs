//! Code with colours: comments, literals and keywords of the usual languages, line by line.
//!
//! A line is coloured on its own, so a comment or a text over several lines is coloured as code after its first line. A grammar of
//! each language would need a library that is larger than the rest of this program.

use anstyle::Style;
use tenter_base::words;

use super::wrap::StyledLine;
use crate::style::{FAINT, KEYWORD, LITERAL};

/// The syntax of a family of languages.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeLanguage {
    /// The names in Markdown, and the extensions of files.
    names: &'static [&'static str],
    /// The beginning of a comment.
    comment: &'static str,
    /// The quotation marks of texts.
    quotes: &'static [char],
    /// The keywords.
    keywords: &'static [&'static str],
}

const LANGUAGES: &[CodeLanguage] = &[
    CodeLanguage {
        names: words!("rust rs"),
        comment: "//",
        quotes: &['"'],
        keywords: words!(
            "as async await break const continue crate dyn else enum false fn for if impl in let loop
             match mod move mut pub ref return self Self static struct super trait true type unsafe
             use where while"
        ),
    },
    CodeLanguage {
        names: words!("javascript js jsx mjs cjs typescript ts tsx"),
        comment: "//",
        quotes: &['"', '\'', '`'],
        keywords: words!(
            "as async await break case catch class const continue default delete do else export
             extends false finally for from function if implements import in instanceof interface let
             new null of private public readonly return static super switch this throw true try type
             typeof undefined var void while yield"
        ),
    },
    CodeLanguage {
        names: words!("go c h cpp cc hpp c++ java kotlin kt swift csharp cs scala dart php zig"),
        comment: "//",
        quotes: &['"', '\'', '`'],
        keywords: words!(
            "auto bool break case catch chan char class const continue default defer do double else
             enum extends false final float for fun func go guard if implements import in int
             interface let long map namespace new nil null package private protected public range
             return select self static string struct switch this throw true try type typedef using
             val var virtual void while"
        ),
    },
    CodeLanguage {
        names: words!("python py pyi"),
        comment: "#",
        quotes: &['"', '\''],
        keywords: words!(
            "and as assert async await break class continue def del elif else except False finally
             for from global if import in is lambda None nonlocal not or pass raise return self True
             try while with yield"
        ),
    },
    CodeLanguage {
        names: words!("bash sh shell zsh fish makefile dockerfile"),
        comment: "#",
        quotes: &['"', '\''],
        keywords: words!(
            "case do done elif else esac export fi for function if in local return set then until
             while FROM RUN COPY"
        ),
    },
    CodeLanguage {
        names: words!("ruby rb perl pl elixir ex exs r"),
        comment: "#",
        quotes: &['"', '\''],
        keywords: words!(
            "begin case class def defmodule do else elsif end ensure false for if in module my nil
             our require rescue return self sub then true unless until use when while yield"
        ),
    },
    CodeLanguage {
        names: words!("toml yaml yml ini conf"),
        comment: "#",
        quotes: &['"', '\''],
        keywords: words!("true false null yes no on off"),
    },
    CodeLanguage {
        names: words!("json jsonc json5 jsonl"),
        comment: "//",
        quotes: &['"'],
        keywords: words!("true false null"),
    },
    CodeLanguage {
        names: words!("sql lua haskell hs"),
        comment: "--",
        quotes: &['"', '\''],
        keywords: words!(
            "SELECT FROM WHERE JOIN ON AND OR NOT NULL INSERT INTO VALUES UPDATE SET DELETE CREATE
             TABLE ORDER GROUP BY AS LIMIT select from where join on and or not null insert into
             values update set delete create table order group by as limit local function then end if
             else for do return nil true false let in case of module import data"
        ),
    },
];

impl CodeLanguage {
    /// Returns the language with a name as in Markdown, or with this extension of its files.
    pub fn named(name: &str) -> Option<&'static Self> {
        let name = name.split([' ', ',', '{']).next()?.to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))
    }

    /// Returns the language of a file.
    pub fn from_file(file: &std::path::Path) -> Option<&'static Self> {
        let extension = file.extension().or_else(|| file.file_name())?;
        Self::named(extension.to_str()?)
    }
}

/// Returns a line of code with colours; without a language, as it is.
pub(super) fn highlight(line: &str, language: Option<&CodeLanguage>) -> StyledLine {
    let Some(language) = language else { return StyledLine::new(Style::new(), line) };
    let mut styled = StyledLine::default();
    let mut rest = line;
    let mut is_after_space = true;
    while let Some(first) = rest.chars().next() {
        let (style, length) = token(rest, first, is_after_space, language);
        let (text, after) = rest.split_at(length);
        is_after_space = text.ends_with(char::is_whitespace);
        styled.push(style, text);
        rest = after;
    }
    styled
}

/// Returns the style and the length of the first token.
fn token(rest: &str, first: char, is_after_space: bool, language: &CodeLanguage) -> (Style, usize) {
    if rest.starts_with(language.comment) && (is_after_space || language.comment == "//") {
        return (FAINT, rest.len());
    }
    if language.quotes.contains(&first) {
        return quoted_length(rest, first)
            .map_or((Style::new(), first.len_utf8()), |length| (LITERAL, length));
    }
    if first.is_ascii_digit() {
        return (
            LITERAL,
            length_while(rest, |c| c.is_ascii_alphanumeric() || c == '.' || c == '_'),
        );
    }
    if is_word(first) {
        let length = length_while(rest, is_word);
        let is_keyword = language.keywords.contains(&&rest[..length]);
        return (if is_keyword { KEYWORD } else { Style::new() }, length);
    }
    (Style::new(), first.len_utf8())
}

/// Returns the length of a text with its quotation marks; `None` if it does not end on this line.
fn quoted_length(rest: &str, quote: char) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return Some(at + quote.len_utf8());
        }
    }
    None
}

fn length_while(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !is_part(c)).unwrap_or(text.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a line with its styles in words: `k(let) x = l(1)`.
    fn marked(language: &str, line: &str) -> String {
        let line = highlight(line, CodeLanguage::named(language)).to_string();
        let line = line.replace("\x1b[0m", ")");
        [(KEYWORD, "k("), (LITERAL, "l("), (FAINT, "f(")]
            .into_iter()
            .fold(line, |line, (style, mark)| line.replace(&style.to_string(), mark))
    }

    #[test]
    fn keywords_literals_and_comments_have_colours() {
        for (language, line, expected) in [
            ("rust", "let x = \"a\\\"b\"; // it's", "k(let) x = l(\"a\\\"b\"); f(// it's)"),
            ("rs", "fn a<'t>() -> &'t str", "k(fn) a<'t>() -> &'t str"),
            ("python", "if x == 10: # ten", "k(if) x == l(10): f(# ten)"),
            ("sh", "echo a#b 'c'", "echo a#b l('c')"),
            ("ts", "const a = `b`", "k(const) a = l(`b`)"),
            ("js", "letter = 'it", "letter = 'it"),
            ("unknown", "let x = 1", "let x = 1"),
        ] {
            assert_eq!(marked(language, line), expected, "{language}");
        }
    }

    #[test]
    fn colours_lose_no_character() {
        for line in ["", "\"", "日本 '語", "a\\", "`x", "// é", "0x1F_u8.", "\t \u{301}"] {
            for language in LANGUAGES {
                let line_of = highlight(line, Some(language)).to_string();
                assert_eq!(anstream::adapter::strip_str(&line_of).to_string(), line);
            }
        }
    }

    #[test]
    fn a_file_has_the_language_of_its_extension() {
        let of = |file: &str| CodeLanguage::from_file(std::path::Path::new(file)).is_some();
        assert!(of("a/b.rs") && of("Makefile") && of("x.yml") && !of("LICENSE") && !of("x.bin"));
    }
}
