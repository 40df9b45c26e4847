//! What the agent's model can do: run commands, read, write and edit files, search, and keep a to-do list.
//!
//! A tool takes a JSON object and answers with a [`ToolResult`](tenter_protocol::ToolResult) whose metadata is typed; a
//! tool that fails says so in its result, never by panicking. What the tools of one agent share lives in the
//! [`Workspace`]: where they may go, what they have read, what they left running.
//!
//! Tools know nothing of hooks and models: who may call them, and what becomes of a result, is the agent's business. They ask
//! for consent before they change what is protected.

mod allowed_commands;
mod bash;
mod budget;
mod file_edit;
mod file_read;
mod file_write;
mod glob;
mod grep;
mod grep_sink;
mod ignore_files;
mod input;
mod lines;
mod protect;
mod registry;
mod regular_file;
mod replacement;
mod roots;
mod schema;
mod seen;
mod slots;
mod subagent;
mod todo;
mod tool;
mod walk;
mod workspace;

#[cfg(test)]
pub(crate) mod testing;

pub use allowed_commands::{AllowedCommands, PatternError};
pub use protect::{ProtectedPaths, WriteConsent};
pub use registry::{Registry, UnknownTools};
pub use roots::FolderError;
pub(crate) use slots::MAX_CALLS_AT_ONCE;
pub(crate) use subagent::SUBAGENT;
pub use subagent::{SubagentAnswer, SubagentError, Subagents};
pub use tool::{Report, Tool, ToolContext, ToolError, TypedTool};
pub use walk::{Entry, Leaving, Walk, walk};
pub use workspace::{Workspace, WorkspaceSettings};
