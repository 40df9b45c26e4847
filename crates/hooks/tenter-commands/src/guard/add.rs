//! `tenter guard add`.

use std::path::Path;

use tenter_base::visible;
use tenter_engine::inspect::Untrusted;
use tenter_proc::Cancel;
use tenter_protocol::manifest::setting::{HookSetting, SettingKind};
use tenter_terminal::{CommandResult, Exit, Failure, GOOD, NAME, styled, ui};

use super::installed::{GuardLocation, GuardState, InstalledGuard, MANIFEST};
use crate::hook_settings::{self, Assignment};
use crate::new_files::{NewFile, remove_new, write_dir};
use crate::project::Project;
use crate::shipped_guards::{Guard, with_mode};
use crate::{OwnAgent, backtest, trust};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The guards or other ready-made hooks; `tenter hooks catalog` lists them.
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,
    /// Add all guards.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Record what they would stop, and stop nothing.
    #[arg(long)]
    monitor: bool,
    /// Confine scripts and installs instead of asking.
    #[arg(long)]
    confine: bool,
    #[command(flatten)]
    pub(super) location: GuardLocation,
}

pub(super) fn run(
    project: &mut Project,
    args: &Args,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    let guards = Guard::named(&args.names, args.all)?;
    if let Some(hook) = guards.iter().find(|hook| args.monitor && !hook.decides()) {
        let message = format!("{} decides nothing that monitor mode could record", hook.name);
        return Err(Failure::usage(message).help("add it without --monitor"));
    }
    let hooks = args.location.directory(project)?;
    let mut new_names = Vec::new();
    for guard in guards {
        if add(guard, &hooks, args)? {
            new_names.push(guard.name);
        }
    }
    if args.location.is_project() {
        trust_added(project, &new_names).inspect_err(|_| {
            for name in &new_names {
                remove_new(&hooks.join(name));
            }
        })?;
    }
    if !new_names.is_empty() {
        let place = visible(&hooks.to_string_lossy()).into_owned();
        ui::note(format!("{} {} to {place}.", styled(GOOD, "Added"), new_names.join(", ")));
        let is_guard = |name: &&&str| Guard::find(name).is_ok_and(|hook| hook.is_guard());
        let guards: Vec<String> =
            new_names.iter().filter(is_guard).map(|name| (*name).to_owned()).collect();
        let verb = if guards.len() == new_names.len() { "guard" } else { "run in" };
        let effect = if args.monitor {
            "They stop nothing and record what they would stop, in".to_owned()
        } else {
            format!("They {verb}")
        };
        ui::note(format!(
            "{effect} `tenter run` and `tenter chat`, and other agents after `tenter bridge install`."
        ));
        if args.monitor {
            ui::note("`tenter guard enforce` lets them stop calls.");
        }
        if !guards.is_empty() {
            backtest::offer(project, agent, &super::texts(&guards)?);
        }
    }
    Ok(Exit::Done)
}

/// Adds a guard, unless it is there already. Returns whether it was added.
fn add(guard: Guard, hooks: &Path, args: &Args) -> Result<bool, Failure> {
    let installation = InstalledGuard::new(guard, hooks);
    let name = styled(NAME, guard.name);
    match installation.state {
        GuardState::Absent => {
            let text = with_mode(&guard.installable(), args.monitor);
            let text = if args.confine { confining(&text)? } else { text };
            let file = NewFile { name: MANIFEST.to_owned(), text, is_executable: false };
            write_dir(&installation.path, &[file], false)?;
            return Ok(true);
        }
        GuardState::Other => {
            let path = installation.path.display();
            let failure = Failure::new(format!("{path} is another hook of the same name"));
            return Err(failure.help("rename it, or remove it"));
        }
        GuardState::Current => ui::note(format!("{name} is there already.")),
        GuardState::Changed => ui::note(format!("{name} is there already; you changed it.")),
        GuardState::Outdated | GuardState::ChangedAndOutdated => {
            ui::note(format!(
                "{name} is there already, in another version: `tenter guard update`."
            ));
        }
    }
    Ok(false)
}

/// Returns the text of a guard with every setting that can be `confine` set to it.
fn confining(text: &str) -> Result<String, Failure> {
    let file = Path::new(MANIFEST);
    let can_confine = |setting: &HookSetting| matches!(&setting.kind, SettingKind::Choice(words) if words.iter().any(|word| word == "confine"));
    let settings = hook_settings::settings(file, text)?.into_iter().filter(can_confine);
    let assignments: Result<Vec<Assignment>, String> =
        settings.map(|setting| Assignment::parse(&format!("{}=confine", setting.name))).collect();
    match assignments.map_err(Failure::new)?.as_slice() {
        [] => Ok(text.to_owned()),
        assignments => hook_settings::change(file, text, assignments).map(|(text, _)| text),
    }
}

/// Trusts these guards of the project: the user has just chosen them, and their text is part of this program.
pub(super) fn trust_added(project: &mut Project, names: &[&str]) -> Result<(), Failure> {
    let cancel = Cancel::new();
    let catalog = project.load(&cancel);
    let is_added = |hook: &&Untrusted| names.contains(&hook.name.as_str());
    let hooks: Vec<Untrusted> = catalog.untrusted().iter().filter(is_added).cloned().collect();
    if !hooks.is_empty() {
        trust::trust_hooks(project, &hooks, &cancel)?;
    }
    Ok(())
}
