//! `tenter bridge renew`.

use tenter_bridge::registration::program_path;
use tenter_terminal::{CommandResult, Env, Exit, GOOD, styled, ui};

use super::{located, location};
use crate::{project, user_only};

/// Renew the program that agents run, after an update of Tenter.
///
/// `bridge install` copies `tenter-hook` to ~/.local/share/tenter/bin, so that agents keep their hooks when a package moves or is removed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Copy a program that other users may replace.
    #[arg(long)]
    force: bool,
}

/// Runs `tenter bridge renew`.
pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    user_only::check(env, &project::root(env, None)?, "bridge renew")?;
    let program = location::program(args.force)?;
    super::registry(env).renew_program(&program).map_err(located)?;
    let copy = program_path(&env.home);
    ui::note(format!("{} {}", styled(GOOD, "Renewed"), copy.display()));
    Ok(Exit::Done)
}
