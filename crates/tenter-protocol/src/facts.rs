//! Facts about a tool call besides its input: the files that it is about to access (R78).

use serde::Serialize;

use crate::tool_names::ToolNames;

/// The facts about one tool call. Other events have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The paths in the input, in the order of the tool's fields.
    pub paths: Vec<PathFact>,
    /// The names of the agent's tools.
    pub tool_names: ToolNames,
}

/// A path in a tool's input. Consumers must tolerate further fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathFact {
    /// The resolved, absolute path: symlinks first, then `..`, as the system does.
    pub path: String,
    /// The path as written in the input.
    pub given: String,
    /// What the call does with it.
    pub op: PathOp,
    /// Whether `path` could be resolved. If not, it is the given path made absolute, and the tool rejects it.
    pub certain: bool,
}

/// What a call does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PathOp {
    /// Reads the file.
    Read,
    /// Creates or changes the file.
    Write,
    /// Deletes the file.
    Delete,
    /// Searches the directory.
    List,
}

/// What a tool does with the path in one of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathUse {
    /// Reads the file.
    Read,
    /// Creates or changes the file.
    Write,
    /// Reads the file, or searches the directory.
    Search,
}
