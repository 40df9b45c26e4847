//! The recipes that an agent may use, and their trust.

use std::path::PathBuf;
use std::sync::Arc;

use tenter_agent::recipe::{Recipe, RecipeBook, RecipeError, RecipeTrust, Recipes};
use tenter_commands::project::Project;
use tenter_commands::trust::{self, ProjectRecipe, TrustRecord};
use tenter_engine::configuration::ConfineProfiles;
use tenter_engine::{CallbackCheck, TrustMode};
use tenter_terminal::{Env, Failure, ui};

/// Returns the recipes that hooks may call back and that the user may name.
pub(crate) fn book(project: &Project, fragment_dirs: &[PathBuf]) -> RecipeBook {
    let dirs = fragment_dirs.iter().map(|directory| project.env.cwd.join(directory));
    let table = project.settings.hooks.confine.clone();
    let profiles = ConfineProfiles { table, home: project.env.home.clone() };
    RecipeBook {
        recipes: Recipes::new(&project.layout, &dirs.collect::<Vec<_>>()).with_profiles(profiles),
        project: project.root().to_owned(),
        // Programs of a recipe get no model keys, like hooks (R40).
        env: project.hook_environment().base().clone(),
        launcher: Some(Env::launcher()),
        trust: trusted(project),
    }
}

/// Checks whether the recipe that a hook calls back can start (R66).
pub(super) fn callback_check(book: RecipeBook) -> CallbackCheck {
    Arc::new(move |recipe, args| book.startable(recipe, args).map(drop))
}

/// Trusts the recipes in the trust store.
fn trusted(project: &Project) -> RecipeTrust {
    let is_open = project.settings.hooks.trust == TrustMode::All;
    let (store, root) = (project.trust.clone(), project.root().to_owned());
    Arc::new(move |recipe: &Recipe| {
        is_open || TrustRecord::from_recipe(&to_trust(recipe)).is_in(&store, &root)
    })
}

/// Returns a recipe as trust in it needs it.
pub(crate) fn to_trust(recipe: &Recipe) -> ProjectRecipe {
    ProjectRecipe {
        name: recipe.name.clone(),
        path: recipe.origin.path.clone(),
        fingerprint: recipe.fingerprint().clone(),
        programs: recipe.programs(),
        confinements: recipe.confinements.clone(),
    }
}

/// Returns the project's recipes that need trust to start programs, or to use tools without hooks. Shadowed and broken ones never
/// run and are left out.
pub(crate) fn untrusted(book: &RecipeBook) -> Vec<ProjectRecipe> {
    let (recipes, _) = book.recipes.list();
    let project_recipes = recipes.iter().filter(|recipe| {
        recipe.origin.layer.is_of_project() && recipe.shadowed_by.is_none() && !recipe.is_broken
    });
    project_recipes
        .filter_map(|recipe| book.find(&recipe.name).ok())
        .filter(|recipe| book.needs_trust(recipe))
        .map(|recipe| to_trust(&recipe))
        .collect()
}

/// Trusts every recipe of the project with its current content.
pub(super) fn trust_all(project: &mut Project, fragment_dirs: &[PathBuf]) -> Result<(), Failure> {
    let recipes = untrusted(&book(project, fragment_dirs));
    trust::trust_recipes(project, &recipes)
}

/// Parses the `NAME=VALUE` of `--arg`.
pub(crate) fn argument(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// Prints the diagnostics of a broken recipe, and returns the failure for a missing or broken one.
pub(crate) fn no_recipe(error: &RecipeError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        RecipeError::Unusable { findings, .. } => {
            findings.iter().for_each(ui::diagnostic);
            Failure::new(error.to_string())
                .help("fix the file; `tenter recipe list` shows where it is")
        }
        RecipeError::Name { .. } | RecipeError::Unknown { .. } => {
            failure.help("`tenter recipe list` lists them")
        }
    }
}
