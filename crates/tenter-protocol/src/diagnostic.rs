//! What is wrong with something a person wrote, as data: rendering is the terminal's business.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something will not do what its author may expect.
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

/// One finding. Findings come in plural: one never hides another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// A stable name for this kind of finding, in kebab case.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, as one sentence without its full stop.
    pub message: String,
    /// The file or folder it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Where in that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<Place>>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// A part of a line, with the line, so that a person can be shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The line's number, from 1.
    pub line: usize,
    /// The first character that is meant, from 1.
    pub column: usize,
    /// How many characters are meant; at least one.
    pub length: usize,
    /// The line as it stands in the file, without its end.
    pub source: String,
}

impl Diagnostic {
    /// A finding that is not about a file.
    pub fn new(id: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self { id, severity, message: message.into(), path: None, place: None, help: None }
    }

    /// The same finding, about a file or folder.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same finding, about a place in its file.
    #[must_use]
    pub fn marking(mut self, place: Place) -> Self {
        self.place = Some(Box::new(place));
        self
    }

    /// The same finding, with what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
