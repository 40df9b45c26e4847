//! `tenter demo`.
use super::Done;
use crate::env::Env;
use crate::failure::Exit;

/// See hooks at work.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Does it.
pub(crate) fn run(_env: &Env, _args: &Args) -> Done {
    Ok(Exit::Done)
}
