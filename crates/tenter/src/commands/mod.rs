//! One command, one file: its arguments, whose doc comments are its help, and one function that does it.

pub(crate) mod chat;
pub(crate) mod commit;
pub(crate) mod conversation;
pub(crate) mod demo;
pub(crate) mod help;
pub(crate) mod hooks;
pub(crate) mod log;
pub(crate) mod models;
pub(crate) mod plugin;
pub(crate) mod pr;
pub(crate) mod recipe;
pub(crate) mod run;
pub(crate) mod skill;
pub(crate) mod trust;

use crate::failure::{Exit, Failure};

/// What a command comes to.
pub(crate) type Done = Result<Exit, Failure>;
