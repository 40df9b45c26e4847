//! The files that a shell command changed.

use serde::{Deserialize, Serialize};

/// The files of the project that changed while a command ran (F16).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFiles {
    /// The files.
    pub files: Vec<ChangedFile>,
    /// True if there are more.
    #[serde(default)]
    pub truncated: bool,
}

/// A file that changed.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// The path, relative to the project.
    pub path: String,
    /// The change.
    pub change: ChangeKind,
}

/// The change of a file.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new to git.
    Created,
    /// Its content, mode or type changed.
    Changed,
    /// It is gone.
    Deleted,
}
