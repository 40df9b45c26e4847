//! Tenter's own agent at the terminal: `run`, `chat`, `commit`, `pr`, its conversations, recipes, skills, models and MCP servers.
//!
//! `agent` builds an agent from flags and settings, `render` shows its work. Each other module is a command: its arguments, whose doc
//! comments are its help text, and a function that runs it.
//!
//! ```
//! use tenter_chat::TenterAgent;
//! use tenter_commands::OwnAgent as _;
//! use tenter_terminal::Env;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let home = scratch.path();
//! let env = Env::from_variables(vec![("HOME".into(), home.into())], home.into());
//! let conversations = TenterAgent.conversations(&env, Some(home), 10).map_err(|failure| failure.message)?;
//! assert!(conversations.is_empty());
//! # Ok(())
//! # }
//! ```

mod agent;
pub mod chat;
pub mod commit;
pub mod completion;
pub mod conversation;
pub mod demo;
mod draft;
mod keys;
mod listing;
pub mod mcp;
pub mod models;
mod own_agent;
mod picker;
pub mod pr;
pub mod recipe;
mod render;
pub mod run;
pub mod skill;

pub use own_agent::TenterAgent;
