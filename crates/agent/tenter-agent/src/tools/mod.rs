//! The tools of the agent's model: run commands, read, write and edit files, search, keep a to-do list.
//!
//! A tool takes a JSON object and returns a [`ToolResult`](tenter_protocol::ToolResult) with typed metadata; a tool that
//! fails reports it in its result and never panics. What the tools of one agent share is in the [`Workspace`]: accessible
//! directories, files read so far, background commands.
//!
//! Tools are independent of hooks and models: the session decides which calls run and what happens to their results.
//! Tools ask for consent before they change protected files.

mod allowed_commands;
mod bash;
mod budget;
mod confined;
mod error;
mod file_change;
mod file_edit;
mod file_read;
mod file_states;
mod file_write;
mod glob;
mod grep;
mod grep_sink;
mod input;
mod lines;
mod output_tail;
mod protect;
mod registry;
mod regular_file;
mod replacement;
mod roots;
mod schema;
mod slots;
mod source;
mod subagent;
mod subagents;
mod todo;
mod tool;
mod workspace;

#[cfg(test)]
pub(crate) mod testing;

pub use allowed_commands::{AllowedCommands, PatternError};
pub(crate) use confined::Launch;
pub use error::ToolError;
pub use output_tail::OutputTail;
pub use protect::{ProtectedPaths, WriteConsent};
pub use registry::{Registry, UnknownTools};
pub use roots::DirectoryError;
pub(crate) use slots::MAX_CALLS_AT_ONCE;
pub use source::{Instructions, SourcedTools, ToolSource};
pub(crate) use subagent::SUBAGENT;
pub use subagents::{SubagentAnswer, SubagentError, Subagents};
pub use tool::{Tool, ToolContext, ToolEffect, ToolReport, TypedTool};
pub use workspace::{Workspace, WorkspaceSettings};
