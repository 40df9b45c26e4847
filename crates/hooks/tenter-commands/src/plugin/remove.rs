//! `tenter plugin remove`.

use std::path::Path;

use tenter_engine::layout::plugin_name;
use tenter_terminal::{CommandResult, Env, Exit, Failure, ui};

use super::places::{PluginDir, PluginLocation, not_here};
use super::{consent, local_source};
use crate::project::Project;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// ORG/REPO or ORG@REPO.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Remove your own plugins instead of the project's.
    #[arg(short, long)]
    global: bool,
}

/// Removes every plugin; one that is not installed does not stop the others.
pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let mut project = Project::open(env, project)?;
    let place = PluginDir::to_change(env, project.root(), args.global)?;
    let mut exit = Exit::Done;
    for name in &args.names {
        let name = plugin_name(name);
        match remove(&mut project, &place, &name) {
            Ok(()) => ui::note(format!("Removed {name}.")),
            Err(failure) => {
                ui::failure(&failure);
                exit = failure.exit;
            }
        }
    }
    Ok(exit)
}

fn remove(project: &mut Project, place: &PluginDir, name: &str) -> Result<(), Failure> {
    // Another plugin may get this name later, with other files next to the same hooks. Trust is revoked first: it could not be
    // revoked for a plugin that is gone.
    if place.location == PluginLocation::Local {
        consent::withdraw(project, name)?;
        local_source::forget(project, name)?;
    }
    if place.plugins.remove(name)? {
        return Ok(());
    }
    Err(not_here(project.env, project.root(), place, name))
}
