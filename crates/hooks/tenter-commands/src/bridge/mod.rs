//! `tenter bridge`: Tenter's hooks in other agents.

mod canary;
mod consent;
mod import;
mod install;
pub(crate) mod list;
mod location;
mod own_rules;
mod prove;
mod remove;
mod renew;
mod show;

use crate::Deferred;
use std::path::Path;

use tenter_protocol::Diagnostic;
use tenter_terminal::{CommandResult, Env, Failure};

use crate::installed_agents::{host, registry};
use crate::project::Project;

/// Use your hooks in other agents.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List agents, and where your hooks are registered.
    List(Deferred<list::Args>),
    /// Register your hooks with agents; shows every change first.
    Install(install::Args),
    /// Remove what `install` added.
    Remove(remove::Args),
    /// Renew the program that agents run, after an update of Tenter.
    Renew(Deferred<renew::Args>),
    /// Show what hooks can do in an agent.
    Show(Deferred<show::Args>),
    /// Prove that your hooks guard an agent on this machine.
    Prove(Deferred<prove::Args>),
    /// Make Claude Code's hooks and permission rules hooks of yours.
    Import(Deferred<import::Args>),
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    match command {
        Command::List(args) => Ok(list::run(&Project::open(env, project)?, args)),
        Command::Install(args) => install::run(env, args),
        Command::Remove(args) => remove::run(env, args),
        Command::Renew(args) => renew::run(env, args),
        Command::Import(args) => import::run(env, &Project::open(env, project)?, args),
        Command::Prove(args) => prove::run(&Project::open(env, project)?, args),
        Command::Show(args) => show::run(Project::open(env, project)?, args),
    }
}

/// Returns a diagnostic as a failure, with its position in the file.
fn located(diagnostic: Diagnostic) -> Failure {
    let Diagnostic { message, path, span, help, .. } = diagnostic;
    let file = path.map(|path| path.display().to_string()).unwrap_or_default();
    let position = span.map(|span| format!(":{}:{}", span.line, span.column)).unwrap_or_default();
    let place = if file.is_empty() { file } else { format!("{file}{position}: ") };
    Failure { help, ..Failure::new(format!("{place}{message}")) }
}
