//! The recipes that an agent may use, and which of the project's may start programs.

use std::sync::Arc;

use tenter_agent::recipe::{Recipe, RecipeBook, RecipePlaces, Recipes};
use tenter_engine::trust::TrustMode;

use super::AgentArgs;
use crate::hooks::Project;

/// Everything that hooks may call back, and the person may name.
pub(crate) fn book(project: &Project, args: &AgentArgs) -> RecipeBook {
    let dirs = args.fragment_dirs.iter().map(|folder| project.env.cwd.join(folder));
    let trusts_all = project.settings.trust == TrustMode::All || args.trust_project;
    RecipeBook {
        recipes: Recipes::new(&RecipePlaces {
            project: project.root().to_owned(),
            home: project.env.home.clone(),
            fragment_dirs: dirs.collect(),
        }),
        project: project.root().to_owned(),
        // What a recipe starts is as foreign as a hook is: it does not get the model's keys either (R40).
        env: project.hook_environment().given().clone(),
        trust: Arc::new(move |_: &Recipe| trusts_all),
    }
}
