//! Templates in values. What a template is, a checker knows that comes in; here its findings get their places in the file.

use std::ops::Range;

use super::findings::{FIELD, TEMPLATE};
use super::reader::Reader;
use super::tree::Node;
use crate::diagnostic::Span;
use crate::{Diagnostic, EventName, Severity};

/// What a text of a hook without code has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateKind {
    /// A text with values to be filled in.
    Text,
    /// A condition.
    Condition,
}

/// Judges a template over the payload of an event: everything that is wrong with it, with places in its own text. What is
/// no error is about a field that the payload cannot have.
pub type CheckTemplate<'a> = &'a dyn Fn(EventName, TemplateKind, &str) -> Vec<Diagnostic>;

impl Reader<'_, '_> {
    /// Says what was found in the template in a value; whether it can be used.
    pub(super) fn tell_template(&mut self, value: &Node, text: &str, found: &[Diagnostic]) -> bool {
        let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
        for finding in found {
            let in_value = |place: &Span| self.place_in(value, text, place);
            let at = finding.span.as_deref().and_then(in_value);
            let help = finding.help.clone().unwrap_or_default();
            let at = at.as_ref().unwrap_or(&value.at);
            if is_error(finding) {
                self.findings.add(&TEMPLATE, Some(at), finding.message.clone(), help);
            } else {
                let instead = self.findings.instead(&FIELD, "it counts as missing");
                let message = format!("{}{instead}", finding.message);
                self.findings.add(&FIELD, Some(at), message, help);
            }
        }
        !found.iter().any(is_error)
    }

    /// Where a place of a value's text stands in the file; nothing, where the file writes that line in another way, with
    /// escapes or folded.
    fn place_in(&self, value: &Node, text: &str, place: &Span) -> Option<Range<usize>> {
        let written = self.findings.source.text(&value.at);
        let mut start = 0;
        for line in text.lines().take(place.line - 1) {
            start += written.get(start..)?.find(line)? + line.len();
        }
        let line = text.lines().nth(place.line - 1)?;
        start += written.get(start..)?.find(line)?;
        let bytes =
            |characters: usize| line.chars().take(characters).map(char::len_utf8).sum::<usize>();
        let from = value.at.start + start;
        Some(from + bytes(place.column - 1)..from + bytes(place.column - 1 + place.length))
    }
}
