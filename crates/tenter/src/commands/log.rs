//! `tenter log`: the journal.
use super::Done;
use crate::env::Env;
use crate::failure::Exit;
use std::path::Path;

/// Show what hooks did.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Does it.
pub(crate) fn run(_env: &Env, _project: Option<&Path>, _args: &Args) -> Done {
    Ok(Exit::Done)
}
