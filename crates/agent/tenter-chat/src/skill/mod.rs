//! `tenter skill`: lists skills and shows their instructions.

mod list;
mod show;

use std::path::Path;

use tenter_agent::skill::Skills;
use tenter_commands::{Deferred, project};
use tenter_engine::layout::ResourceLayout;
use tenter_terminal::{CommandResult, Env, Failure};

/// List skills, and show their instructions.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List all skills, also shadowed ones.
    List(Deferred<list::Args>),
    /// Show the instructions and metadata of a skill.
    Show(Deferred<show::Args>),
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    let skills = skills(env, project)?;
    match command {
        Command::List(args) => Ok(list::run(&skills, args)),
        Command::Show(args) => show::run(&skills, args),
    }
}

/// Lists the skills of a project.
pub(crate) fn list(layout: &ResourceLayout) {
    list::run(&Skills::new(layout), &list::Args::default());
}

/// Returns the skills of the project.
fn skills(env: &Env, project: Option<&Path>) -> Result<Skills, Failure> {
    Ok(Skills::new(&env.layout(project::root(env, project)?)))
}
