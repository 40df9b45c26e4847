//! Syntax errors of the YAML parser, in words for the author of front matter.

use granit_parser::{ErrorKind, ScanError};

use super::escapes::Repaired;
use crate::front_matter::report::Report;

/// The progress of the parser.
pub(super) struct Position<'a> {
    pub(super) repaired: &'a Repaired<'a>,
    /// The position of the YAML in the file.
    pub(super) base: usize,
    /// The end of the last event, in the file.
    pub(super) last: usize,
}

/// Reports `error`, at which the parser stopped in `yaml`.
pub(super) fn report(
    error: &ScanError,
    yaml: &str,
    position: &Position<'_>,
    report: &mut Report<'_>,
) {
    let marker = error.marker().byte_offset().unwrap_or_default();
    let mut start = position.repaired.original(marker);
    let progress = position.last - position.base;
    let (message, help) = describe(error.kind());
    if is_about_tabs(error.kind()) {
        start = yaml.get(..start).map_or(start, |before| before.trim_end_matches('\t').len());
    }
    if is_about_quotes(error.kind())
        && let Some(quote) = yaml.get(progress..start).and_then(|part| part.find(['"', '\'']))
    {
        start = progress + quote;
    }
    let length = yaml.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let at = position.base + start..position.base + start + length;
    let format = report.format();
    let is_limit = *error.kind() == ErrorKind::RecursionLimitExceeded;
    let code = if is_limit { &format.too_large } else { &format.syntax };
    report.add(code, &at, message, help);
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

/// Returns a message and a help.
fn describe(kind: &ErrorKind) -> (String, &'static str) {
    let (message, help) = match kind {
        kind if is_about_tabs(kind) => ("tabs are not allowed in indentation", "use spaces"),
        kind if is_about_quotes(kind) => {
            ("unclosed quote", "close it; if the text continues on further lines, indent them")
        }
        ErrorKind::UnknownAnchor => (
            "a value that begins with `*` refers to an anchor, and no anchor has that name",
            IN_QUOTES,
        ),
        ErrorKind::UnexpectedCharacter { character } => return unexpected(*character),
        ErrorKind::MappingValueNotAllowed => (
            "a second `:` is not allowed here",
            "quote a value that contains `: `; indent the keys of one mapping alike",
        ),
        ErrorKind::ExpectedBlockMappingKey => (
            "a key is expected here",
            "quote the whole of a value that begins with `[`, `{`, `\"` or `'`",
        ),
        ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar => {
            ("unexpected text after the closing quote", "quote the whole value")
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("this line is not a `key: value` line", "write a colon and a space after the key")
        }
        ErrorKind::InvalidColonPlacement
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::ExpectedFlowMappingSeparator => (
            "a bracket before this is not closed",
            "close it, or quote a value that contains brackets",
        ),
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("this bracket closes nothing", "quote a value that contains brackets")
        }
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::BlockSequenceEntryNotAllowed => {
            ("a list is not allowed here", "write it below a key")
        }
        ErrorKind::RecursionLimitExceeded => {
            ("this is nested too deeply", "front matter is a few lines")
        }
        ErrorKind::DirectiveDisallowed => ("YAML directives are not supported", "remove the line"),
        other => return (format!("invalid YAML: {other}"), IN_QUOTES),
    };
    (message.to_owned(), help)
}

const IN_QUOTES: &str = "put the value in single quotes";

fn unexpected(character: char) -> (String, &'static str) {
    if character.is_control() {
        let code = u32::from(character);
        return (format!("the control character U+{code:04X} is not allowed"), "remove it");
    }
    (format!("a value cannot begin with `{character}`"), IN_QUOTES)
}
