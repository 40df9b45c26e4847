//! The commands. Each module has the arguments of a command, whose doc comments are its help text, and a function that runs it.

pub(crate) mod bridge;
pub(crate) mod chat;
pub(crate) mod commit;
pub(crate) mod config;
pub(crate) mod conversation;
pub(crate) mod demo;
pub(crate) mod guard;
pub(crate) mod help;
pub(crate) mod hooks;
pub(crate) mod inspect;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod plugin;
pub(crate) mod pr;
pub(crate) mod recipe;
pub(crate) mod run;
pub(crate) mod skill;
pub(crate) mod trust;

use crate::failure::{Exit, Failure};

/// The exit code of a command, or why it failed.
pub(crate) type CommandResult = Result<Exit, Failure>;
