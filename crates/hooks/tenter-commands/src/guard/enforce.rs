//! `tenter guard enforce`.

use tenter_base::format_count;
use tenter_terminal::{CommandResult, Exit, Failure, NAME, styled, ui};

use super::add::trust_added;
use super::installed::{GuardLocation, GuardState, InstalledGuard};
use crate::hook_figures;
use crate::project::Project;
use crate::shipped_guards::{Guard, is_monitoring, with_mode};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guards.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    pub(super) location: GuardLocation,
}

pub(super) fn run(project: &mut Project, args: &Args) -> CommandResult {
    let hooks = args.location.directory(project)?;
    let mut enforced = Vec::new();
    for guard in Guard::named(&args.names, false)? {
        let installation = InstalledGuard::new(guard, &hooks);
        if enforce(project, &installation)? {
            enforced.push(guard.name);
        }
    }
    if args.location.is_project() {
        trust_added(project, &enforced)?;
    }
    Ok(Exit::Done)
}

/// Shows what a guard would have stopped, and lets it stop calls. Returns whether it was in monitor mode.
fn enforce(project: &Project, installation: &InstalledGuard) -> Result<bool, Failure> {
    let name = installation.guard.name;
    if matches!(installation.state, GuardState::Absent | GuardState::Other) {
        let failure =
            Failure::new(format!("{name} is not installed in {}", installation.path.display()));
        return Err(failure.help("`tenter hooks catalog` shows where it is"));
    }
    let styled_name = styled(NAME, name);
    if !is_monitoring(&installation.text) {
        ui::note(format!("{styled_name} is not in monitor mode."));
        return Ok(false);
    }
    let (index, unread) = hook_figures::read(&project.env.journals(), None);
    ui::diagnostics(&unread);
    let runs = index.runs().filter(|run| run.hook == name && run.would_stop).count();
    let calls = format_count(runs, "call", "calls");
    ui::note(format!(
        "In monitor mode, {styled_name} would have stopped {calls}; `tenter log --all --hook {name}` shows them."
    ));
    installation.write(&with_mode(&installation.text, false))?;
    ui::note(format!("From now on {styled_name} stops calls."));
    Ok(true)
}
