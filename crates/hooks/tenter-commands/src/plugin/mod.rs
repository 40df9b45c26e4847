//! `tenter plugin`: hooks, skills and recipes from a repository (R55).

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

use tenter_terminal::{CommandResult, Env, Failure};

use crate::project::root;
use crate::{Deferred, OwnAgent, user_only};

/// Install, list, update, verify and remove plugins; write and check your own.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Install plugins; their hooks run once you trust them.
    Add(Deferred<add::Args>),
    /// List installed plugins.
    List(Deferred<list::Args>),
    /// Show the source and the content of a plugin.
    Show(Deferred<show::Args>),
    /// Update plugins, and show what changes.
    Update(Deferred<update::Args>),
    /// Check installed plugins for changes; exits with 1 if there are any.
    Verify(Deferred<verify::Args>),
    /// Remove plugins, and revoke the trust in their hooks.
    Remove(Deferred<remove::Args>),
    /// Create a plugin with working hooks, a recipe, a skill and tests.
    New(Deferred<new::Args>),
    /// Check a plugin before you publish it.
    Check(Deferred<check::Args>),
}

/// Runs the command.
pub fn run(
    env: &Env,
    project: Option<&Path>,
    command: &Command,
    agent: &dyn OwnAgent,
) -> CommandResult {
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
        Command::Check(args) => check::run(env, args, agent),
    }
}

/// Checks that the user runs the command: plugins add and remove hooks, which an agent must not do to its own guards.
fn user_must_run(env: &Env, project: Option<&Path>, name: &str) -> Result<(), Failure> {
    user_only::check(env, &root(env, project)?, name)
}

/// Returns the names of the installed plugins.
pub fn installed_names(env: &Env, root: &Path) -> Vec<String> {
    let plugins = places::installed(&places::PluginDir::all(env, root)).unwrap_or_default();
    plugins.into_iter().map(|plugins| plugins.plugin.name).collect()
}
