//! The recipes that an agent may use, which of the project's may start programs, and an agent that works for one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tenter_agent::recipe::{
    MISSING, Recipe, RecipeBook, RecipePlaces, RecipeTrust, Recipes, Rendered, render,
};
use tenter_engine::CallbackCheck;
use tenter_engine::trust::{TrustEntry, TrustMode, TrustedKind};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};

use super::build::Built;
use super::{AgentArgs, trust_or_skip};
use crate::commands::recipe::no_recipe;
use crate::commands::trust::{self, Waiting};
use crate::failure::Failure;
use crate::hooks::Project;
use crate::render::Show;

/// Everything that hooks may call back, and the person may name.
pub(crate) fn book(project: &Project, fragment_dirs: &[PathBuf]) -> RecipeBook {
    let dirs = fragment_dirs.iter().map(|folder| project.env.cwd.join(folder));
    RecipeBook {
        recipes: Recipes::new(&RecipePlaces {
            project: project.root().to_owned(),
            home: project.env.home.clone(),
            fragment_dirs: dirs.collect(),
        }),
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
    Arc::new(move |recipe: &Recipe| {
        is_open || store.of(&root).is_trusted(&trust_name(recipe), recipe.fingerprint())
    })
}

/// The name under which the store knows a recipe: no hook's, in a folder of its own.
pub(crate) fn trust_name(recipe: &Recipe) -> String {
    tenter_engine::trust::trust_name(TrustedKind::Recipe, &recipe.name)
}

/// A recipe to be trusted as it was read.
pub(crate) fn trust_entry(recipe: &Recipe) -> TrustEntry {
    TrustEntry::new(trust_name(recipe), recipe.fingerprint().clone(), &recipe.origin.path)
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

/// The recipe that the person named, after the decision whether its programs may start.
///
/// # Errors
/// When there is none, it cannot be used, or the person has to decide first.
pub(crate) fn wanted(
    project: &mut Project,
    args: &AgentArgs,
    name: &str,
    show: &dyn Show,
) -> Result<Recipe, Failure> {
    let book = book(project, &args.fragment_dirs);
    let recipe = book.find(name).map_err(|error| no_recipe(&error))?;
    if book.holds_back(&recipe) && trust_or_skip(project, Waiting::recipe(&recipe), show)? {
        trust::trust_recipes(project, std::slice::from_ref(&recipe))?;
    }
    Ok(recipe)
}

impl Built {
    /// Makes the agent one that works for this recipe, with the tools that it leaves, and fills in its text.
    ///
    /// # Errors
    /// When it cannot be filled in; what is wrong with it has been shown.
    pub(crate) fn take_up(
        &mut self,
        recipe: &Recipe,
        given: &[(String, String)],
        show: &dyn Show,
        cancel: &Cancel,
    ) -> Result<String, Failure> {
        self.name_recipe(recipe);
        let tools = std::mem::take(&mut self.agent.tools);
        self.agent.tools = recipe.restrict(tools).map_err(|unknown| {
            Failure::new(format!("the recipe {:?} cannot be used: {unknown}", recipe.name))
                .help("mend its `allowed_tools`")
        })?;
        let shell = self.agent.settings.recipes.shell(recipe, cancel);
        let given: BTreeMap<String, String> = given.iter().cloned().collect();
        match render(recipe, &given, shell.as_ref()) {
            Ok(Rendered { text, warnings }) => {
                for warning in &warnings {
                    show.finding(warning);
                }
                Ok(self.agent.settings.keys.text(&text).into_owned())
            }
            Err(findings) => {
                for finding in &findings {
                    show.finding(finding);
                }
                Err(not_filled_in(recipe, &findings))
            }
        }
    }
}

fn not_filled_in(recipe: &Recipe, findings: &[Diagnostic]) -> Failure {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    if errors().any(|error| error.id != MISSING) {
        return Failure::new(format!("the recipe {:?} cannot be filled in", recipe.name))
            .help("mend its file");
    }
    let is_missing =
        |name: &str| errors().any(|error| error.message.contains(&format!("`{name}`")));
    let missing = recipe.arguments.iter().filter(|argument| is_missing(&argument.name));
    let missing: Vec<String> = missing
        .map(|argument| match argument.description.as_str() {
            "" => format!("--arg {}=…", argument.name),
            description => format!("--arg {}=… ({description})", argument.name),
        })
        .collect();
    let failure =
        Failure::usage(format!("the recipe {:?} needs arguments that were not given", recipe.name));
    if missing.is_empty() { failure } else { failure.help(missing.join("; ")) }
}
