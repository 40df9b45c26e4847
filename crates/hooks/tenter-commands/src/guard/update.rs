//! `tenter guard update`.

use tenter_base::replace_file;
use tenter_terminal::failure::{CommandResult, Exit, Failure};
use tenter_terminal::text::diff;
use tenter_terminal::ui::{self, GOOD, NAME, NOTICE, styled};

use super::add::trust_added;
use super::installed::{GuardLocation, GuardState, InstalledGuard, MANIFEST};
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
    let mut updated = Vec::new();
    let installed = guards.into_iter().map(|guard| InstalledGuard::new(guard, &hooks));
    for installed in installed.filter(|installed| installed.state != GuardState::Absent) {
        if update(&installed)? {
            updated.push(installed.guard.name);
        }
    }
    if args.location.is_project() {
        trust_added(project, &updated)?;
    }
    if updated.is_empty() {
        ui::note("Nothing was updated.");
    }
    Ok(Exit::Done)
}

/// Updates a guard unless the user changed it, and shows the difference. Returns whether it was updated.
fn update(installed: &InstalledGuard) -> Result<bool, Failure> {
    let (guard, name) = (installed.guard, styled(NAME, installed.guard.name));
    let file = installed.path.join(MANIFEST);
    let (text, lost) = hook_settings::carry_over(&file, &installed.text, &guard.installable());
    let text = with_mode(&text, is_monitoring(&installed.text));
    let show = || {
        let lines = diff::of_trusted(&installed.text, &text, LINES);
        lines.iter().for_each(ui::out);
    };
    match installed.state {
        GuardState::Outdated => {
            ui::out(format!("{} {name}:", styled(GOOD, "Updated")));
            show();
            for setting in lost {
                ui::note(format!("Your value of the setting {setting} does not exist any more."));
            }
            replace_file::replace_with_mode(&file, text.as_bytes(), Some(0o644)).map_err(
                |error| Failure::new(format!("cannot write {}: {error}", file.display())),
            )?;
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
