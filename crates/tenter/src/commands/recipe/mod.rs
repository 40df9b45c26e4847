//! `tenter recipe`: which recipes there are, and what prompt one makes.

mod list;
mod show;

use std::path::{Path, PathBuf};

use tenter_agent::recipe::{RecipeBook, RecipePlaces, Recipes};

use super::Done;
use crate::agent::recipes;
use crate::env::Env;
use crate::failure::Failure;
use crate::hooks::Project;

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
        let fragment_dirs = self.fragment_dirs.iter().map(|folder| env.cwd.join(folder)).collect();
        Recipes::new(&RecipePlaces {
            project: root.to_owned(),
            home: env.home.clone(),
            fragment_dirs,
        })
    }
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, command: &Command) -> Done {
    match command {
        Command::List(args) => list::run(env, project, args),
        Command::Show(args) => show::run(env, project, args),
    }
}

/// `NAME=VALUE`, as `--arg` takes it.
pub(crate) fn argument(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// The failure for a recipe that cannot be had; what is wrong with its file has been shown.
pub(crate) fn no_recipe(error: &tenter_agent::recipe::RecipeError) -> Failure {
    use tenter_agent::recipe::RecipeError;
    let failure = Failure::usage(error.to_string());
    match error {
        RecipeError::Unusable { findings, .. } => {
            findings.iter().for_each(crate::ui::diagnostic);
            Failure::new(error.to_string())
                .help("mend its file; `tenter recipe list` shows where it is")
        }
        RecipeError::Name { .. } | RecipeError::Unknown { .. } => {
            failure.help("`tenter recipe list` shows which there are")
        }
    }
}
