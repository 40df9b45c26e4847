//! `tenter guard list`.

use serde::Serialize;
use tenter_terminal::{CommandResult, Exit, FAINT, GOOD, NAME, NOTICE, styled, ui};

use super::installed::{GuardState, InstalledGuard};
use crate::new_files::hooks_dir;
use crate::project::Project;
use crate::shipped_guards::{GUARDS, Guard};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON array: name, version, description, false alarms, and the state in your hooks and in the project's.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ListedGuard {
    name: &'static str,
    version: &'static str,
    description: &'static str,
    #[serde(skip)]
    note_title: &'static str,
    false_alarms: String,
    user: GuardState,
    project: GuardState,
}

/// Lists the guards.
pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    list(
        project,
        args,
        &GUARDS,
        "`tenter guard add NAME` adds one to your hooks, with --project to the project's.",
    )
}

/// Lists guards and other ready-made hooks.
pub(super) fn run_catalog(project: &Project, args: &Args) -> CommandResult {
    let all: Vec<Guard> = Guard::catalog().collect();
    list(
        project,
        args,
        &all,
        "`tenter hooks add NAME` adds one to your hooks, with --project to the project's.",
    )
}

fn list(project: &Project, args: &Args, hooks: &[Guard], help: &str) -> CommandResult {
    let user = hooks_dir(project, true)?;
    // A project whose directory of hooks cannot be used has none.
    let project_dir = hooks_dir(project, false).ok();
    let rows: Vec<ListedGuard> = hooks
        .iter()
        .map(|guard| ListedGuard {
            name: guard.name,
            version: guard.version(),
            description: guard.description(),
            note_title: guard.note_title(),
            false_alarms: guard.false_alarms(),
            user: InstalledGuard::new(*guard, &user).state,
            project: project_dir
                .as_ref()
                .map_or(GuardState::Absent, |hooks| InstalledGuard::new(*guard, hooks).state),
        })
        .collect();
    if args.json {
        ui::json(&rows);
    } else {
        rows.iter().for_each(print);
        ui::note(help);
    }
    Ok(Exit::Done)
}

fn print(guard: &ListedGuard) {
    let states = [("yours", guard.user), ("the project's", guard.project)];
    let states = states.into_iter().filter(|(_, state)| *state != GuardState::Absent);
    let states: Vec<String> = states
        .map(|(hooks, state)| {
            let style = if state == GuardState::Current { GOOD } else { NOTICE };
            format!("{} in {hooks}", styled(style, state.as_str()))
        })
        .collect();
    let states = if states.is_empty() { styled(FAINT, "not installed") } else { states.join(", ") };
    ui::out(format!("{}  {states}", styled(NAME, guard.name)));
    ui::out(format!("  {}", guard.description));
    ui::out(styled(FAINT, format!("  {}{}", guard.note_title, guard.false_alarms)));
}
