//! The commands for hooks, and what they share: the project, trust, and the checks of what only the user may do.
//!
//! Each module of a command has its arguments, whose doc comments are its help text, and a function that runs it. What the agent
//! adds to these commands comes through [`OwnAgent`].
//!
//! ```
//! use tenter_commands::project::Project;
//! use tenter_proc::Cancel;
//! use tenter_terminal::Env;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let home = scratch.path();
//! let env = Env::from_variables(vec![("HOME".into(), home.into())], home.into());
//! let mut project = Project::open(&env, None).map_err(|failure| failure.message)?;
//! let catalog = project.load(&Cancel::new());
//! assert!(catalog.hooks().is_empty()); // a new user has no hooks
//! # Ok(())
//! # }
//! ```

mod agent_version;
mod ancestors;
pub mod authorities;
pub mod backtest;
pub mod bound;
pub mod bridge;
pub mod bundle;
pub mod checkpoint;
pub mod completion;
pub mod config;
pub mod confine;
mod deferred;
pub mod export;
pub mod git;
pub mod guard;
pub mod help;
mod hook_figures;
mod hook_settings;
pub mod hooks;
pub mod inspect;
mod installed_agents;
pub mod journal;
pub mod log;
pub mod man;
mod new_files;
mod own_agent;
pub mod plugin;
pub mod project;
pub mod proxy;
pub mod registered_program;
mod session_titles;
mod shipped_guards;
mod since;
pub mod trust;
pub mod user_only;

pub use deferred::{Commands, Deferred, parse_line};
pub use own_agent::{CompletionError, ConversationEntry, NoAgent, OwnAgent};
