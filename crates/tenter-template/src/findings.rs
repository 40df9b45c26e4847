//! What was found in a template: each with its place, each once, and not without end.

use std::ops::Range;

use tenter_protocol::{Diagnostic, Severity, SourceText};

use super::File;

/// After so many findings nothing more is looked for: each holds a copy of its line.
const MOST: usize = 20;

/// A part of a template cannot be understood.
pub(super) const SYNTAX: &str = "template-syntax";
/// A template goes beyond a limit.
pub(super) const LIMIT: &str = "template-limit";
/// An argument was not given.
pub const MISSING: &str = "template-missing-argument";
/// A value is not of the kind that is wanted.
pub(super) const VALUE: &str = "template-value";
/// A command failed.
pub(super) const COMMAND: &str = "template-command-failed";
/// A condition asks for an argument that nobody declares.
pub(super) const UNDECLARED: &str = "template-undeclared-argument";

/// The findings about one template.
pub(super) struct Findings<'a> {
    file: &'a File,
    list: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(file: &'a File) -> Self {
        Self { file, list: Vec::new() }
    }

    /// Adds an error: what is wrong, where, and what would be right.
    pub(super) fn error(
        &mut self,
        id: &'static str,
        at: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Diagnostic::new(id, Severity::Error, message).help(help), at);
    }

    /// Adds a warning.
    pub(super) fn warning(
        &mut self,
        id: &'static str,
        at: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Diagnostic::new(id, Severity::Warning, message).help(help), at);
    }

    /// Whether there is an error.
    pub(super) fn has_errors(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Whether there are so many that the rest is not worth looking at.
    pub(super) fn are_enough(&self) -> bool {
        self.list.len() >= MOST
    }

    /// All of them, in the order of the file.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|finding| finding.span.as_ref().map(|at| (at.line, at.column)));
        self.list
    }

    fn add(&mut self, finding: Diagnostic, at: &Range<usize>) {
        if self.are_enough() {
            return;
        }
        let place = SourceText::new(self.file.text.as_bytes()).span(at);
        let finding = finding.at(&self.file.path).with_span(place);
        // What stands in a loop is wrong every time.
        if !self.list.contains(&finding) {
            self.list.push(finding);
        }
    }
}
