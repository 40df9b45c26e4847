//! The recipes that an agent may use by itself: for a hook's callback, for a compaction.
//!
//! Nobody is asked then, and no hook watches, so a recipe that the project brought along starts no program unless the person
//! trusts it: its `bash` is refused and says so in the text, and beside a conversation it gets no tools.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

use super::{CommandOutput, ProjectShell, Recipe, RecipeError, Recipes, Shell};

/// Decides whether a project's recipe may start programs.
pub type RecipeTrust = Arc<dyn Fn(&Recipe) -> bool + Send + Sync>;

/// Recipes, and what they may do.
#[derive(Clone)]
pub struct RecipeBook {
    /// Where they are.
    pub recipes: Recipes,
    /// Where their programs start.
    pub project: PathBuf,
    /// The environment of their programs.
    pub env: Vec<(OsString, OsString)>,
    /// Which of the project's recipes may start programs.
    pub trust: RecipeTrust,
}

impl RecipeBook {
    /// The recipe of this name.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    pub fn find(&self, name: &str) -> Result<Recipe, RecipeError> {
        self.recipes.find(name)
    }

    /// The recipe of this name, if it can be started with these arguments. None of its programs is started to find out.
    ///
    /// # Errors
    /// Why it cannot: there is none, it cannot be used, or an argument is missing.
    pub fn startable(&self, name: &str, args: &BTreeMap<String, String>) -> Result<Recipe, String> {
        let recipe = self.find(name).map_err(|error| match &error {
            RecipeError::Unusable { findings, .. } => in_words(findings),
            other => other.to_string(),
        })?;
        match super::render(&recipe, args, &NoShell) {
            Ok(_) => Ok(recipe),
            Err(errors) => Err(in_words(&errors)),
        }
    }

    /// Whether nobody but the project answers for a recipe. Beside a conversation, where no hook watches, such a one gets no
    /// tools.
    pub fn is_untrusted(&self, recipe: &Recipe) -> bool {
        recipe.layer().is_of_project() && !(self.trust)(recipe)
    }

    /// Whether there is anything that the person's trust would let a recipe do.
    pub fn wants_trust(&self, recipe: &Recipe) -> bool {
        let has_tools = recipe.allowed_tools.as_ref().is_none_or(|tools| !tools.is_empty());
        self.is_untrusted(recipe) && (has_tools || !recipe.programs().is_empty())
    }

    /// Whether a recipe has programs that are kept from starting: the project brought it along, and nobody trusts it.
    pub fn holds_back(&self, recipe: &Recipe) -> bool {
        self.is_untrusted(recipe) && !recipe.programs().is_empty()
    }

    /// What a recipe's programs are started by; `cancel` ends them.
    pub fn shell(&self, recipe: &Recipe, cancel: &Cancel) -> Box<dyn Shell> {
        if self.holds_back(recipe) {
            return Box::new(NoShell);
        }
        let (project, env) = (self.project.clone(), self.env.clone());
        Box::new(ProjectShell { project, env, cancel: cancel.clone() })
    }
}

impl fmt::Debug for RecipeBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the environment: it may hold secrets.
        f.debug_struct("RecipeBook").field("recipes", &self.recipes).finish_non_exhaustive()
    }
}

/// What is wrong with a recipe, on one line.
pub(crate) fn in_words(findings: &[Diagnostic]) -> String {
    findings.iter().map(with_place).collect::<Vec<_>>().join("; ")
}

fn with_place(finding: &Diagnostic) -> String {
    match (&finding.span, &finding.path) {
        (Some(place), Some(path)) => {
            format!("{}, in line {} of {}", finding.message, place.line, path.display())
        }
        _ => finding.message.clone(),
    }
}

/// Starts nothing.
struct NoShell;

impl Shell for NoShell {
    fn run(&self, _program: &str, _args: &[String]) -> CommandOutput {
        let why = "was not started: the recipe comes with the project and is not trusted (see `tenter trust`)";
        CommandOutput { text: String::new(), failure: Some(why.to_owned()) }
    }
}
