//! `tenter guard`: ready-made hooks that keep an agent from doing damage (C10).

mod add;
mod installed;
mod list;
mod remove;
mod set;
mod show;
mod update;

use std::path::Path;

use tenter_terminal::env::Env;
use tenter_terminal::failure::{CommandResult, Failure};

use self::installed::GuardLocation;
use crate::backtest::GuardText;
use crate::project::Project;
use crate::shipped_guards::{GUARDS, Guard};
use crate::user_only;

/// List, add, change, update and remove ready-made guards.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the guards, and whether they are installed.
    List(list::Args),
    /// Add guards to your hooks, or to the project's hooks.
    Add(add::Args),
    /// Show the settings and the rules of a guard.
    Show(show::Args),
    /// Change settings of a guard.
    Set(set::Args),
    /// Remove guards.
    Remove(remove::Args),
    /// Update guards, and show what changes.
    Update(update::Args),
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    let location = match command {
        Command::List(_) | Command::Show(_) => None,
        Command::Set(args) => Some(&args.location),
        Command::Add(args) => Some(&args.location),
        Command::Remove(args) => Some(&args.location),
        Command::Update(args) => Some(&args.location),
    };
    let project = project.filter(|directory| *directory != Path::new("."));
    let project = location.and_then(GuardLocation::named).or(project);
    let mut project = Project::open(env, project)?;
    let user = |name| user_only::check(env, project.root(), name);
    match command {
        Command::List(args) => list::run(&project, args),
        Command::Show(args) => show::run(&project, args),
        Command::Set(args) => {
            user("guard set")?;
            set::run(&mut project, args)
        }
        Command::Add(args) => {
            user("guard add")?;
            add::run(&mut project, args)
        }
        Command::Remove(args) => {
            user("guard remove")?;
            remove::run(&project, args)
        }
        Command::Update(args) => {
            user("guard update")?;
            update::run(&mut project, args)
        }
    }
}

/// Returns the name and the `HOOK.md` of each of these guards.
pub fn texts(names: &[String]) -> Result<Vec<GuardText>, Failure> {
    let guards = Guard::named(names, false)?;
    Ok(guards.iter().map(|guard| (guard.name, guard.installable())).collect())
}

/// The names and descriptions of the guards.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    GUARDS.iter().map(|guard| (guard.name, guard.description()))
}
