//! `tenter guard set`.

use tenter_base::visible;
use tenter_terminal::{CommandResult, Exit, Failure, NAME, styled, ui};

use super::add::trust_added;
use super::installed::{GuardLocation, GuardState, InstalledGuard};
use crate::hook_settings::{self, Assignment};
use crate::project::Project;
use crate::shipped_guards::Guard;

/// Change settings of a guard or another ready-made hook. Updates keep them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guard.
    pub(super) name: String,
    /// The settings: NAME=VALUE; NAME+=VALUE and NAME-=VALUE for lists; NAME= for the default.
    #[arg(value_name = "SETTING", required = true, value_parser = Assignment::parse)]
    values: Vec<Assignment>,
    #[command(flatten)]
    pub(super) location: GuardLocation,
}

pub(super) fn run(project: &mut Project, args: &Args) -> CommandResult {
    let hooks = args.location.directory(project)?;
    let guard = Guard::find(&args.name)?;
    let installation = InstalledGuard::new(guard, &hooks);
    match installation.state {
        GuardState::Absent => {
            let place = visible(&hooks.to_string_lossy()).into_owned();
            let failure = Failure::new(format!("{} is not installed in {place}", guard.name));
            return Err(failure.help(format!("run `tenter guard add {}`", guard.name)));
        }
        GuardState::Other => {
            let path = installation.path.display();
            return Err(Failure::new(format!("{path} is another hook of the same name")));
        }
        _ => {}
    }
    let change = hook_settings::change(&installation.file(), &installation.text, &args.values);
    let (text, settings) = match change {
        Err(failure) if installation.state == GuardState::Outdated => {
            return Err(failure.help("a newer version may have it: `tenter guard update`"));
        }
        other => other?,
    };
    installation.write(&text)?;
    if args.location.is_project() {
        trust_added(project, &[guard.name])?;
    }
    for setting in settings {
        let words = hook_settings::value_words(&setting);
        ui::out(format!("{} = {words}", styled(NAME, &setting.name)));
    }
    Ok(Exit::Done)
}
