//! A coding agent that fires all lifecycle events.
//!
//! ```text
//! Session::send(message) ─► before_agent ─► model ─► tools ─► after_turn ─► … ─► before_stop ─► after_agent
//!                                                   each call: before_tool ─► tool ─► after_tool
//! ```
//!
//! The agent uses the engine's public API only: it dispatches events and applies outcomes. A model implements [`Model`],
//! a tool implements [`tools::Tool`], and displays and output formats implement [`Watcher`]. This crate prints nothing,
//! reads neither environment nor clock, and terminates only processes that it started.

pub mod attachments;
pub mod conversation;
pub mod model;
pub mod permission;
pub mod prompt;
pub mod recipe;
pub mod session;
pub mod skill;
pub mod store;
pub mod tools;
mod transcript;
pub mod watch;

pub use conversation::Conversation;
pub use model::{Model, ModelError};
pub use session::{Agent, AgentError, AgentSettings, Finish, RetrySettings, Session, UserMessage};
pub use watch::{SessionUpdate, Watcher};
