//! `tenter plugin`: hooks, skills and recipes that come from a repository (R55).

mod add;
mod check;
mod consent;
mod json;
mod list;
mod local_source;
mod new;
mod obtain;
mod places;
mod remove;
mod show;
mod update;
mod verify;

use std::path::Path;

use super::Done;
use crate::env::Env;
use crate::failure::Failure;
use crate::project::root;
use crate::user_only;

/// Install, list, update, verify and remove plugins; write and check your own.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Install plugins. Nothing of them runs before you trust it.
    Add(add::Args),
    /// List the plugins of the project and your own.
    List(list::Args),
    /// Show where a plugin came from and what it offers.
    Show(show::Args),
    /// Fetch what is new, and show which files and which lines of hooks change.
    Update(update::Args),
    /// Compare plugins with what was installed. The exit code is 1 where they differ.
    Verify(verify::Args),
    /// Remove plugins, and take back the trust in their hooks.
    Remove(remove::Args),
    /// Write a new plugin: hooks, a recipe and a skill that work as they are, with their tests.
    New(new::Args),
    /// Check a plugin before it is published.
    Check(check::Args),
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, command: &Command) -> Done {
    match command {
        Command::Add(args) => {
            user_must_run(env, project, "plugin add")?;
            add::run(env, project, args)
        }
        Command::List(args) => list::run(env, project, args),
        Command::Show(args) => show::run(env, project, args),
        Command::Update(args) => {
            user_must_run(env, project, "plugin update")?;
            update::run(env, project, args)
        }
        Command::Verify(args) => verify::run(env, project, args),
        Command::Remove(args) => {
            user_must_run(env, project, "plugin remove")?;
            remove::run(env, project, args)
        }
        Command::New(args) => new::run(env, args),
        Command::Check(args) => check::run(env, args),
    }
}

/// Plugins bring hooks and take them away, which an agent must not do to its own guards.
fn user_must_run(env: &Env, project: Option<&Path>, name: &str) -> Result<(), Failure> {
    user_only::check(env, &root(env, project)?, name)
}
