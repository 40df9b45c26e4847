//! `tenter guard remove`.

use std::fs;
use std::path::Path;

use tenter_base::visible;
use tenter_engine::Layer;
use tenter_engine::layout::ResourceName;
use tenter_proc::Cancel;
use tenter_terminal::{CommandResult, Exit, Failure, NAME, styled, ui};

use super::installed::{GuardLocation, GuardState, InstalledGuard, MANIFEST};
use crate::project::Project;
use crate::shipped_guards::Guard;
use crate::trust;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guards.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// Also remove guards that you changed.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    pub(super) location: GuardLocation,
}

pub(super) fn run(project: &mut Project, args: &Args) -> CommandResult {
    let hooks = args.location.directory(project)?;
    refuse_other_hooks(project, &args.names)?;
    for guard in Guard::named(&args.names, false)? {
        let installation = InstalledGuard::new(guard, &hooks);
        remove(&installation, args.force)?;
        if args.location.is_project() {
            // The project is not reported to lack a hook that its user has just removed.
            trust::revoke(project, Some(guard.name))?;
        }
        ui::note(format!("Removed {}.", styled(NAME, guard.name)));
    }
    Ok(Exit::Done)
}

/// Fails if one of the names is a hook that is not ready-made: only its user can tell what else belongs to it.
fn refuse_other_hooks(project: &mut Project, names: &[String]) -> Result<(), Failure> {
    let Some(name) = names.iter().find(|name| Guard::find(name).is_err()) else { return Ok(()) };
    let catalog = project.load(&Cancel::new());
    let full = ResourceName::new(name);
    let Some(entry) = catalog.listing().iter().find(|entry| entry.name == full.as_str()) else {
        return Ok(());
    };
    let failure = Failure::new(format!("{name} is no ready-made hook, so it is not removed"));
    Err(failure.help(match entry.layer {
        Layer::ProjectPlugin | Layer::UserPlugin => {
            "it is part of a plugin, which `tenter plugin remove` removes".to_owned()
        }
        Layer::Managed => format!("an administrator can remove {}", entry.path.display()),
        Layer::Project => {
            format!("{}; after that, `tenter trust` forgets it", by_hand(&entry.path))
        }
        Layer::User | Layer::BuiltIn => by_hand(&entry.path),
    }))
}

/// Returns the way to remove a hook that is not ready-made.
fn by_hand(path: &Path) -> String {
    format!(
        "delete {} yourself, or disable it with `tenter hooks disable`",
        visible(&path.to_string_lossy())
    )
}

fn remove(installation: &InstalledGuard, force: bool) -> Result<(), Failure> {
    let (name, path) = (installation.guard.name, installation.path.display());
    match installation.state {
        GuardState::Absent => {
            let failure = Failure::new(format!("{name} is not installed in {path}"));
            return Err(failure.help("`tenter hooks catalog` shows where it is"));
        }
        GuardState::Other => {
            let failure = Failure::new(format!("{path} is another hook of the same name"));
            return Err(failure.help(by_hand(&installation.path)));
        }
        state if state.is_changed() && !force => {
            let failure = Failure::new(format!("you changed {path}"));
            return Err(failure.help("pass --force to remove it nevertheless"));
        }
        _ => {}
    }
    fs::remove_file(installation.path.join(MANIFEST))
        .map_err(|error| Failure::new(format!("cannot remove {path}: {error}")))?;
    // The directory stays if the user has put something else there.
    let _ = fs::remove_dir(&installation.path);
    Ok(())
}
