//! Reports diagnostics about the template in a value, at their position in the file.

use std::ops::Range;

use super::codes::{TEMPLATE, TEMPLATE_FIELD};
use crate::front_matter::{Node, Report};
use crate::{Diagnostic, Severity, Span};

/// Reports `diagnostics`, whose spans are in `text`, the text of `value`. Returns whether none of them is an error.
pub(super) fn report_template(
    value: &Node,
    text: &str,
    diagnostics: &[Diagnostic],
    report: &mut Report<'_>,
) -> bool {
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    for diagnostic in diagnostics {
        let span = diagnostic.span.as_deref();
        let at = span.and_then(|span| position_in_file(value, text, span, report));
        let at = at.as_ref().unwrap_or(&value.at);
        let help = diagnostic.help.clone().unwrap_or_default();
        if is_error(diagnostic) {
            report.add(&TEMPLATE, at, diagnostic.message.clone(), help);
        } else {
            let fallback = report.fallback(&TEMPLATE_FIELD, "it counts as missing");
            let message = format!("{}{fallback}", diagnostic.message);
            report.add(&TEMPLATE_FIELD, at, message, help);
        }
    }
    !diagnostics.iter().any(is_error)
}

/// Converts a span in a value's text into a position in the file. `None` if the file writes that line differently, with
/// escapes or folded.
fn position_in_file(
    value: &Node,
    text: &str,
    span: &Span,
    report: &Report<'_>,
) -> Option<Range<usize>> {
    let source = report.source().text(&value.at);
    let mut start = 0;
    for line in text.lines().take(span.line - 1) {
        start += source.get(start..)?.find(line)? + line.len();
    }
    let line = text.lines().nth(span.line - 1)?;
    start += source.get(start..)?.find(line)?;
    let bytes =
        |characters: usize| line.chars().take(characters).map(char::len_utf8).sum::<usize>();
    let from = value.at.start + start;
    Some(from + bytes(span.column - 1)..from + bytes(span.column - 1 + span.length))
}
