//! `tenter guard`: ready-made hooks that keep an agent from doing damage (C10); and `tenter hooks add`, which is the same for every
//! ready-made hook.

mod add;
mod enforce;
mod installed;
pub(crate) mod list;
mod remove;
mod set;
mod show;
mod update;

use std::path::Path;

use tenter_terminal::{CommandResult, Env, Failure};

use crate::backtest::GuardText;
use crate::project::Project;
use crate::shipped_guards::{GUARDS, Guard};
use crate::{Deferred, OwnAgent, user_only};

/// List, add, change, update and remove ready-made guards.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the guards, and whether they are installed.
    List(Deferred<list::Args>),
    /// Show the settings and the rules of a guard.
    Show(Deferred<show::Args>),
    /// Change what is installed.
    #[command(flatten)]
    Change(GuardChange),
}

/// A change of the installed guards and other ready-made hooks.
#[derive(Debug, clap::Subcommand)]
pub enum GuardChange {
    /// Add guards or other ready-made hooks, to yours or the project's.
    Add(add::Args),
    /// Change settings of a guard or another ready-made hook.
    Set(set::Args),
    /// Let guards in monitor mode stop calls.
    Enforce(enforce::Args),
    /// Remove guards or other ready-made hooks.
    Remove(remove::Args),
    /// Update guards and other ready-made hooks, and show what changes.
    Update(update::Args),
}

/// Runs the command.
pub fn run(
    env: &Env,
    project: Option<&Path>,
    command: &Command,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    let open = || Project::open(env, project);
    match command {
        Command::List(args) => list::run(&open()?, args),
        Command::Show(args) => show::run(&open()?, args),
        Command::Change(change) => self::change(env, project, "guard", change, agent),
    }
}

/// Runs `tenter WORD add`, `set`, `remove` or `update`.
pub(crate) fn change(
    env: &Env,
    project: Option<&Path>,
    word: &str,
    change: &GuardChange,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    let (name, location) = match change {
        GuardChange::Add(args) => ("add", &args.location),
        GuardChange::Set(args) => ("set", &args.location),
        GuardChange::Enforce(args) => ("enforce", &args.location),
        GuardChange::Remove(args) => ("remove", &args.location),
        GuardChange::Update(args) => ("update", &args.location),
    };
    let project = project.filter(|directory| *directory != Path::new("."));
    let mut project = Project::open(env, location.named().or(project))?;
    user_only::check(env, project.root(), &format!("{word} {name}"))?;
    match change {
        GuardChange::Add(args) => add::run(&mut project, args, agent),
        GuardChange::Set(args) => set::run(&mut project, args),
        GuardChange::Enforce(args) => enforce::run(&mut project, args),
        GuardChange::Remove(args) => remove::run(&mut project, args),
        GuardChange::Update(args) => update::run(&mut project, args),
    }
}

/// Returns the name and the `HOOK.md` of each of these guards.
pub fn texts(names: &[String]) -> Result<Vec<GuardText>, Failure> {
    let guards = Guard::named(names, false)?;
    Ok(guards.iter().map(|guard| (guard.name, guard.installable())).collect())
}

/// Lists guards and other ready-made hooks.
pub(crate) fn catalog(project: &Project, args: &list::Args) -> CommandResult {
    list::run_catalog(project, args)
}

/// Returns the names and descriptions of the guards.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    GUARDS.iter().map(|guard| (guard.name, guard.description()))
}

/// Returns the names and descriptions of all ready-made hooks.
pub fn catalog_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    Guard::catalog().map(|hook| (hook.name, hook.description()))
}
