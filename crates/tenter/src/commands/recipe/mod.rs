//! `tenter recipe`: which recipes there are, and what prompt one makes.

mod list;
mod show;

use std::path::{Path, PathBuf};

use tenter_agent::recipe::{RecipeBook, Recipes};

use super::Done;
use crate::agent::recipes;
use crate::env::Env;
use crate::project::Project;

/// List recipes, and show what prompt one makes.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List every recipe that is found, and for those that are not taken, what is taken instead.
    List(list::Args),
    /// Show the prompt that a recipe makes: what a run would be asked. Its programs run, those of a project's recipe only if
    /// you have trusted it.
    Show(show::Args),
}

/// Where recipes are looked for beside the usual folders.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct FragmentDirs {
    /// Look for recipes in this folder too, after the project's own.
    #[arg(long, value_name = "DIR")]
    fragment_dirs: Vec<PathBuf>,
}

impl FragmentDirs {
    /// What there is to find in the project, and what it may do.
    pub(crate) fn book(&self, project: &Project) -> RecipeBook {
        recipes::book(project, &self.fragment_dirs)
    }

    /// What there is to find in the project at `root`.
    pub(crate) fn recipes(&self, env: &Env, root: &Path) -> Recipes {
        let dirs: Vec<PathBuf> = self.fragment_dirs.iter().map(|dir| env.cwd.join(dir)).collect();
        Recipes::new(&env.places(root.to_owned()), &dirs)
    }
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, command: &Command) -> Done {
    match command {
        Command::List(args) => list::run(env, project, args),
        Command::Show(args) => show::run(env, project, args),
    }
}
