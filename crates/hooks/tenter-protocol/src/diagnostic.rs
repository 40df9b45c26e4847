//! Problems in files that users write, as data. Rendering is up to the program.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something does not do what its author may expect.
    Warning,
    /// Something does not work at all.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One diagnostic. Loading returns a list of them: one never hides another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// A stable code for this kind of diagnostic, in kebab case.
    pub id: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The problem, in one sentence without its full stop.
    pub message: String,
    /// The file or directory with the problem.
    #[serde(serialize_with = "lossily", skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The part of the file with the problem.
    #[serde(rename = "place", skip_serializing_if = "Option::is_none")]
    pub span: Option<Box<Span>>,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Serializes a path that may be no Unicode, which serde refuses.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn lossily<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(to)
}

/// A part of a line, together with the whole line, so that it can be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The line number, from 1.
    pub line: usize,
    /// The first character of the part, from 1.
    pub column: usize,
    /// The number of characters; at least one.
    pub length: usize,
    /// The line, without its line ending.
    pub source: String,
}

impl Diagnostic {
    /// Creates a diagnostic without a file.
    pub fn new(id: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self { id, severity, message: message.into(), path: None, span: None, help: None }
    }

    /// Sets the file or directory.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the part of the file.
    #[must_use]
    pub fn with_span(mut self, span: Span) -> Self {
        self.span = Some(Box::new(span));
        self
    }

    /// Sets what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
