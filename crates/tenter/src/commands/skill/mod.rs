//! `tenter skill`: which skills there are, and what one tells the model.

mod list;
mod show;

use std::path::Path;

use tenter_agent::skill::Skills;

use super::Done;
use crate::env::Env;
use crate::failure::Failure;
use crate::project;

/// List skills, and show what one tells the model.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List every skill that is found, and for those that are not taken, what is taken instead.
    List(list::Args),
    /// Show what a skill says: all that the model reads of it, and what its author wants known.
    Show(show::Args),
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, command: &Command) -> Done {
    let skills = skills(env, project)?;
    match command {
        Command::List(args) => Ok(list::run(&skills, args)),
        Command::Show(args) => show::run(&skills, args),
    }
}

/// What there is to find in the project.
fn skills(env: &Env, project: Option<&Path>) -> Result<Skills, Failure> {
    Ok(Skills::new(&env.places(project::root(env, project)?)))
}
