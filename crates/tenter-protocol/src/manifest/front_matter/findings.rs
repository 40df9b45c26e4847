//! What can be wrong with a manifest, as one table, and the list of what was found.

use std::ops::Range;
use std::path::Path;

use super::Rules;
use crate::{Diagnostic, Severity, SourceText};

/// After so many findings a file is said to have more; each holds a copy of its line.
const MOST: usize = 100;

/// One way in which a manifest can be wrong.
pub(super) struct Kind {
    id: &'static str,
    weight: Weight,
}

enum Weight {
    /// There is no hook without it.
    Error,
    /// Wrong, but there is an obvious reading: an error by strict rules, a warning by tolerant ones (R16).
    Slip,
    /// Allowed, but not what its author may expect.
    Warning,
}

const fn error(id: &'static str) -> Kind {
    Kind { id, weight: Weight::Error }
}

const fn slip(id: &'static str) -> Kind {
    Kind { id, weight: Weight::Slip }
}

const fn warning(id: &'static str) -> Kind {
    Kind { id, weight: Weight::Warning }
}

pub(super) const LIMIT: Kind = error("manifest-too-large");
pub(super) const ENCODING: Kind = error("manifest-encoding");
pub(super) const FENCE: Kind = error("manifest-no-front-matter");
pub(super) const SYNTAX: Kind = error("manifest-syntax");
pub(super) const DUPLICATE: Kind = error("manifest-duplicate-key");
pub(super) const ESCAPE: Kind = warning("manifest-escape");
pub(super) const UNKNOWN: Kind = slip("manifest-unknown-key");
pub(super) const NAME: Kind = error("manifest-name");
pub(super) const FOLDER: Kind = slip("manifest-folder-name");
pub(super) const DESCRIPTION: Kind = slip("manifest-description");
pub(super) const TRIGGER: Kind = error("manifest-trigger");
pub(super) const MATCHER: Kind = slip("manifest-matcher");
pub(super) const MATCHER_IGNORED: Kind = warning("manifest-matcher-ignored");
pub(super) const PATTERN: Kind = error("manifest-pattern");
pub(super) const PATTERN_REMARK: Kind = warning("manifest-pattern-remark");
pub(super) const TIMEOUT: Kind = slip("manifest-timeout");
pub(super) const ASYNC: Kind = slip("manifest-async");
pub(super) const ASYNC_CANNOT_BLOCK: Kind = warning("manifest-async-cannot-block");
pub(super) const PRIORITY: Kind = slip("manifest-priority");
pub(super) const METADATA: Kind = slip("manifest-metadata");
pub(super) const METADATA_KEY: Kind = warning("manifest-metadata-key");
pub(super) const EXTENSION: Kind = error("manifest-extension");
pub(super) const ACTION: Kind = error("manifest-action");
pub(super) const ACTION_IGNORED: Kind = slip("manifest-action-ignored");
pub(super) const TEMPLATE: Kind = error("manifest-template");
pub(super) const FIELD: Kind = slip("manifest-unknown-field");
const MORE: &str = "manifest-more-problems";

/// The findings of one file.
pub(super) struct Findings<'a> {
    path: &'a Path,
    /// The text that the findings mark.
    pub(super) source: SourceText<'a>,
    rules: Rules,
    list: Vec<Diagnostic>,
    omitted: usize,
    worst_omitted: Severity,
}

impl<'a> Findings<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8], rules: Rules) -> Self {
        let source = SourceText::new(bytes);
        let worst_omitted = Severity::Info;
        Self { path, source, rules, list: Vec::new(), omitted: 0, worst_omitted }
    }

    /// The file that they are about.
    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// Adds one: what is wrong, where, and what would be right.
    pub(super) fn add(
        &mut self,
        kind: &Kind,
        at: Option<&Range<usize>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let severity = self.severity(kind);
        if self.list.len() >= MOST {
            self.omitted += 1;
            self.worst_omitted = self.worst_omitted.max(severity);
            return;
        }
        let finding = Diagnostic::new(kind.id, severity, message).at(self.path).help(help);
        self.list.push(match at {
            Some(range) => finding.with_span(self.source.span(range)),
            None => finding,
        });
    }

    /// What is done in spite of a finding of this kind, as the end of its message; nothing when it is an error.
    pub(super) fn instead(&self, kind: &Kind, what: &str) -> String {
        match self.severity(kind) {
            Severity::Error => String::new(),
            _ => format!("; {what}"),
        }
    }

    fn severity(&self, kind: &Kind) -> Severity {
        match (&kind.weight, self.rules) {
            (Weight::Error, _) | (Weight::Slip, Rules::Strict) => Severity::Error,
            (Weight::Slip, Rules::Tolerant) | (Weight::Warning, _) => Severity::Warning,
        }
    }

    /// All of them, in the order of the file.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        let place = |finding: &Diagnostic| finding.span.as_ref().map(|at| (at.line, at.column));
        self.list.sort_by_key(place);
        if self.omitted > 0 {
            let message = format!("{} more problems are not shown", self.omitted);
            let more = Diagnostic::new(MORE, self.worst_omitted, message).at(self.path);
            self.list.push(more.help("solve those above first"));
        }
        self.list
    }
}
