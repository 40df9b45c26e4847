//! A coding agent that fires every lifecycle event of its life.
//!
//! ```text
//! Session::send(message) ─► before_agent ─► model ─► tools ─► after_turn ─► … ─► before_stop ─► after_agent
//!                                                   each call: before_tool ─► tool ─► after_tool
//! ```
//!
//! The agent is one consumer of the engine, with no private door: it dispatches events and applies outcomes. A model is
//! whatever implements [`Model`]; a tool is whatever implements [`tools::Tool`]; everything that shows or stores what
//! happens beside the conversation itself is a [`Watcher`]. This crate prints nothing, reads no environment and no
//! clock, and ends no process but those that it started.

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
pub use watch::{Happening, Watcher};
