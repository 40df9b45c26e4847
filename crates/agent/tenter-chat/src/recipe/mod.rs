//! `tenter recipe`: lists recipes and shows their prompts.

mod list;
mod show;

use std::path::{Path, PathBuf};
use tenter_commands::Deferred;

use tenter_agent::recipe::RecipeBook;
use tenter_commands::project::Project;
use tenter_terminal::{CommandResult, Env};

use crate::agent::recipes;

/// List recipes, and show their prompts.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List all recipes, also shadowed ones.
    List(Deferred<list::Args>),
    /// Show the prompt of a recipe. Its programs run; a project's recipe must be trusted for that.
    Show(Deferred<show::Args>),
}

/// Further directories with recipes.
#[derive(Debug, Default, clap::Args)]
pub struct FragmentDirs {
    /// Also search DIR for recipes; repeatable.
    #[arg(long, value_name = "DIR")]
    fragment_dirs: Vec<PathBuf>,
}

impl FragmentDirs {
    /// Returns the recipes of the project, with their trust.
    pub fn book(&self, project: &Project) -> RecipeBook {
        recipes::book(project, &self.fragment_dirs)
    }
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    match command {
        Command::List(args) => list::run(env, project, args),
        Command::Show(args) => show::run(env, project, args),
    }
}
