//! `tenter guard remove`.

use std::fs;

use tenter_terminal::failure::{CommandResult, Exit, Failure};
use tenter_terminal::ui::{self, NAME, styled};

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
    for guard in Guard::named(&args.names, false)? {
        let installed = InstalledGuard::new(guard, &hooks);
        remove(&installed, args.force)?;
        if args.location.is_project() {
            // The project is not reported to lack a hook that its user has just removed.
            trust::revoke(project, Some(guard.name))?;
        }
        ui::note(format!("Removed {}.", styled(NAME, guard.name)));
    }
    Ok(Exit::Done)
}

fn remove(installed: &InstalledGuard, force: bool) -> Result<(), Failure> {
    let (name, path) = (installed.guard.name, installed.path.display());
    match installed.state {
        GuardState::Absent => {
            let failure = Failure::new(format!("{name} is not installed in {path}"));
            return Err(failure.help("`tenter hooks catalog` shows where it is"));
        }
        GuardState::Other => {
            return Err(Failure::new(format!("{path} is another hook of the same name")));
        }
        state if state.is_changed() && !force => {
            let failure = Failure::new(format!("you changed {path}"));
            return Err(failure.help("pass --force to remove it nevertheless"));
        }
        _ => {}
    }
    fs::remove_file(installed.path.join(MANIFEST))
        .map_err(|error| Failure::new(format!("cannot remove {path}: {error}")))?;
    // The directory stays if the user has put something else there.
    let _ = fs::remove_dir(&installed.path);
    Ok(())
}
