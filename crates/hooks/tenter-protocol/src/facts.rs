//! Facts about a tool call besides its input: the commands that it runs and the paths that it is about to touch (R78, C1).

use crate::tool_names::ToolNames;

pub use tenter_shell::{
    Code, Command, Facts as CallFacts, Flow, FlowRole, FlowSource, Language, Location, Path,
    PathOp, PathPlace, Redirect, Stdin, Uncertain,
};

/// The facts about one tool call. Other events have none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The commands and paths of the call. Paths are resolved: symlinks first, then `..`, as the system does.
    pub call: CallFacts,
    /// The names of the agent's tools.
    pub tool_names: ToolNames,
}

/// The use of the path in a field of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathUse {
    /// Reads the file.
    Read,
    /// Creates or changes the file.
    Write,
    /// Reads the file, or searches the directory.
    Search,
}
