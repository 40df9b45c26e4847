//! The diagnostics of a template: with positions, without duplicates, limited in number.

use std::ops::Range;

use tenter_protocol::{Diagnostic, Severity, SourceText};

use super::TemplateFile;

/// Maximum number of diagnostics: each holds a copy of its line.
const MAX_FINDINGS: usize = 20;

/// A syntax error.
pub(super) const SYNTAX: &str = "template-syntax";
/// A limit is exceeded.
pub(super) const LIMIT: &str = "template-limit";
/// An argument or a field is missing.
pub const MISSING: &str = "template-missing-argument";
/// A value has the wrong type.
pub(super) const VALUE: &str = "template-value";
/// A command failed.
pub(super) const COMMAND: &str = "template-command-failed";
/// A condition uses an undeclared argument.
pub(super) const UNDECLARED: &str = "template-undeclared-argument";

/// Collects the diagnostics of one template.
pub(super) struct Findings<'a> {
    file: &'a TemplateFile,
    list: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(file: &'a TemplateFile) -> Self {
        Self { file, list: Vec::new() }
    }

    /// Adds an error with a help text.
    pub(super) fn error(
        &mut self,
        id: &'static str,
        at: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Diagnostic::new(id, Severity::Error, message).help(help), at);
    }

    /// Adds a warning with a help text.
    pub(super) fn warning(
        &mut self,
        id: &'static str,
        at: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Diagnostic::new(id, Severity::Warning, message).help(help), at);
    }

    /// Returns true if there is an error.
    pub(super) fn has_errors(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Returns true if the maximum number is reached.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MAX_FINDINGS
    }

    /// Returns all diagnostics, in the order of the file.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|finding| finding.span.as_ref().map(|at| (at.line, at.column)));
        self.list
    }

    fn add(&mut self, finding: Diagnostic, at: &Range<usize>) {
        if self.is_full() {
            return;
        }
        let place = SourceText::new(self.file.text.as_bytes()).span(at);
        let finding = finding.at(&self.file.path).with_span(place);
        // An error in a loop occurs in every iteration.
        if !self.list.contains(&finding) {
            self.list.push(finding);
        }
    }
}
