//! The commands. Each module has the arguments of a command, whose doc comments are its help text, and a function that runs it.

pub(crate) mod chat;
pub(crate) mod commit;
pub(crate) mod conversation;
pub(crate) mod demo;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod pr;
pub(crate) mod recipe;
pub(crate) mod run;
pub(crate) mod skill;
