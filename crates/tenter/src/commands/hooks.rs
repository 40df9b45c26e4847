//! `tenter hooks`.
use super::Done;
use crate::env::Env;
use crate::failure::Exit;
use std::path::Path;

/// Hooks.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List.
    List,
}

/// Does it.
pub(crate) fn run(_env: &Env, _project: Option<&Path>, _command: &Command) -> Done {
    Ok(Exit::Done)
}
