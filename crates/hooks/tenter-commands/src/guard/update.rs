//! `tenter guard update`.

use tenter_terminal::text::diff;
use tenter_terminal::{CommandResult, Exit, Failure, GOOD, NAME, NOTICE, styled, ui};

use super::add::trust_added;
use super::installed::{GuardLocation, GuardState, InstalledGuard};
use crate::hook_settings;
use crate::project::Project;
use crate::shipped_guards::{Guard, is_monitoring, with_mode};

/// Maximum number of lines of a diff.
const LINES: usize = 200;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guards or other ready-made hooks [default: all that are installed].
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    pub(super) location: GuardLocation,
}

pub(super) fn run(project: &mut Project, args: &Args) -> CommandResult {
    let hooks = args.location.directory(project)?;
    let guards = if args.names.is_empty() {
        Guard::catalog().collect()
    } else {
        Guard::named(&args.names, false)?
    };
    let mut names = Vec::new();
    let all_here = guards.into_iter().map(|guard| InstalledGuard::new(guard, &hooks));
    for all_here in all_here.filter(|all_here| all_here.state != GuardState::Absent) {
        if update(&all_here)? {
            names.push(all_here.guard.name);
        }
    }
    if args.location.is_project() {
        trust_added(project, &names)?;
    }
    if names.is_empty() {
        ui::note("Nothing was updated.");
    }
    Ok(Exit::Done)
}

/// Updates a guard unless the user changed it, and shows the difference. Returns whether it was updated.
fn update(installation: &InstalledGuard) -> Result<bool, Failure> {
    let (guard, name) = (installation.guard, styled(NAME, installation.guard.name));
    let (text, lost_settings) =
        hook_settings::carry_over(&installation.file(), &installation.text, &guard.installable());
    let text = with_mode(&text, is_monitoring(&installation.text));
    let show = || {
        let lines = diff::render_trusted(&installation.text, &text, LINES);
        lines.iter().for_each(ui::out);
    };
    match installation.state {
        GuardState::Outdated => {
            ui::out(format!("{} {name}:", styled(GOOD, "Updated")));
            show();
            for setting in lost_settings {
                ui::note(format!("Your value of the setting {setting} does not exist any more."));
            }
            installation.write(&text)?;
            return Ok(true);
        }
        GuardState::ChangedAndOutdated => {
            ui::out(format!(
                "{} {name}, which you changed. The new version differs by:",
                styled(NOTICE, "Kept")
            ));
            show();
            ui::note("To take it, remove the guard with --force and add it again.");
        }
        GuardState::Changed | GuardState::Current | GuardState::Other | GuardState::Absent => {}
    }
    Ok(false)
}
