//! What is wrong with text that is not YAML, in words for somebody who writes a manifest.

use serde_saphyr::granit_parser::{ErrorKind, ScanError};

use super::escapes::Repaired;
use super::findings::{Findings, LIMIT, SYNTAX};

/// How far the reader came.
pub(super) struct Position<'a> {
    pub(super) repaired: &'a Repaired<'a>,
    /// Where the YAML begins in the file.
    pub(super) base: usize,
    /// Where the last thing that could be read ended, in the file.
    pub(super) last: usize,
}

/// Adds the finding for `error`, which ended the reading of `yaml`.
pub(super) fn report(
    error: &ScanError,
    yaml: &str,
    position: &Position<'_>,
    findings: &mut Findings<'_>,
) {
    let marker = error.marker().byte_offset().unwrap_or_default();
    let mut start = position.repaired.original(marker);
    let read = position.last - position.base;
    let (message, help) = words(error.kind());
    if is_about_tabs(error.kind()) {
        start = yaml.get(..start).map_or(start, |before| before.trim_end_matches('\t').len());
    }
    if is_about_quotes(error.kind())
        && let Some(quote) = yaml.get(read..start).and_then(|part| part.find(['"', '\'']))
    {
        start = read + quote;
    }
    let length = yaml.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let at = position.base + start..position.base + start + length;
    let kind = if *error.kind() == ErrorKind::RecursionLimitExceeded { LIMIT } else { SYNTAX };
    findings.add(&kind, Some(&at), message, help);
}

fn is_about_tabs(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar
    )
}

fn is_about_quotes(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnclosedQuotedScalar
            | ErrorKind::InvalidQuotedScalarIndent
            | ErrorKind::DocumentIndicatorInQuotedScalar
    )
}

/// What happened, and what would be right.
fn words(kind: &ErrorKind) -> (String, &'static str) {
    let (message, help) = match kind {
        kind if is_about_tabs(kind) => ("tabs cannot indent", "use spaces"),
        kind if is_about_quotes(kind) => (
            "the text that this quote begins has no end",
            "close it, or indent the lines on which the text goes on",
        ),
        ErrorKind::UnknownAnchor => (
            "a value that begins with `*` refers to an anchor, and there is none of that name",
            IN_QUOTES,
        ),
        ErrorKind::UnexpectedCharacter { character } => return unexpected(*character),
        ErrorKind::MappingValueNotAllowed => (
            "there is no place for a second `:` here",
            "put a value that contains `: ` in quotes; keys of one mapping are indented alike",
        ),
        ErrorKind::ExpectedBlockMappingKey => (
            "a key is expected here",
            "put a value that begins with `[`, `{`, `\"` or `'` in quotes as a whole",
        ),
        ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar => {
            ("there is more after the closing quote", "put the value in quotes as a whole")
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("this line is no `key: value`", "write a colon and a space after the key")
        }
        ErrorKind::InvalidColonPlacement
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::ExpectedFlowMappingSeparator => (
            "a bracket is not closed before here",
            "close it, or put a value that contains brackets in quotes",
        ),
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("this bracket closes nothing", "put a value that contains brackets in quotes")
        }
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::BlockSequenceEntryNotAllowed => {
            ("a list cannot stand here", "front matter is `key: value`; a list belongs below a key")
        }
        ErrorKind::RecursionLimitExceeded => {
            ("this is nested too deeply", "front matter is a few lines")
        }
        ErrorKind::DirectiveDisallowed => ("YAML directives are not read", "remove the line"),
        other => return (format!("this is not YAML: {other}"), IN_QUOTES),
    };
    (message.to_owned(), help)
}

const IN_QUOTES: &str = "put the value in single quotes";

fn unexpected(character: char) -> (String, &'static str) {
    if character.is_control() {
        let code = u32::from(character);
        return (format!("the control character U+{code:04X} cannot stand here"), "remove it");
    }
    (format!("a value cannot begin with `{character}`"), IN_QUOTES)
}
