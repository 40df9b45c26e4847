//! The recipes that an agent may use, and which of the project's may start programs.

use std::path::PathBuf;
use std::sync::Arc;

use tenter_agent::recipe::{Recipe, RecipeBook, RecipeError, RecipeTrust, Recipes};
use tenter_engine::CallbackCheck;
use tenter_engine::trust::TrustMode;

use crate::failure::Failure;
use crate::project::Project;
use crate::trust::{self, TrustRecord};
use crate::ui;

/// Everything that hooks may call back, and the person may name.
pub(crate) fn book(project: &Project, fragment_dirs: &[PathBuf]) -> RecipeBook {
    let dirs = fragment_dirs.iter().map(|folder| project.env.cwd.join(folder));
    RecipeBook {
        recipes: Recipes::new(&project.places, &dirs.collect::<Vec<_>>()),
        project: project.root().to_owned(),
        // What a recipe starts is as foreign as a hook is: it does not get the model's keys either (R40).
        env: project.hook_environment().given().clone(),
        trust: trusted(project),
    }
}

/// Which callbacks of hooks can start (R66).
pub(super) fn callback_check(book: RecipeBook) -> CallbackCheck {
    Arc::new(move |recipe, args| book.startable(recipe, args).map(drop))
}

/// Trusts what the store knows, as it is.
fn trusted(project: &Project) -> RecipeTrust {
    let is_open = project.settings.trust == TrustMode::All;
    let (store, root) = (project.trust.clone(), project.root().to_owned());
    Arc::new(move |recipe: &Recipe| is_open || TrustRecord::of_recipe(recipe).is_in(&store, &root))
}

/// The project's recipes that trust would let do more: start programs, or use tools where no hook watches. One that is shadowed
/// or broken never runs.
pub(crate) fn held_back(book: &RecipeBook) -> Vec<Recipe> {
    let (listed, _) = book.recipes.list();
    let of_project = listed.iter().filter(|recipe| {
        recipe.origin.layer.is_of_project() && recipe.shadowed_by.is_none() && !recipe.is_broken
    });
    of_project
        .filter_map(|listed| book.find(&listed.name).ok())
        .filter(|recipe| book.wants_trust(recipe))
        .collect()
}

/// Trusts every recipe of the project as it is now.
pub(super) fn trust_all(project: &mut Project, fragment_dirs: &[PathBuf]) -> Result<(), Failure> {
    let recipes = held_back(&book(project, fragment_dirs));
    trust::trust_recipes(project, &recipes)
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
pub(crate) fn no_recipe(error: &RecipeError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        RecipeError::Unusable { findings, .. } => {
            findings.iter().for_each(ui::diagnostic);
            Failure::new(error.to_string())
                .help("mend its file; `tenter recipe list` shows where it is")
        }
        RecipeError::Name { .. } | RecipeError::Unknown { .. } => {
            failure.help("`tenter recipe list` shows which there are")
        }
    }
}
