//! The recipes that an agent starts by itself: for the callback of a hook, or for a compaction.
//!
//! No user is asked then, and no hooks run, so a recipe of the project starts no program unless the user trusts it: its `bash` is
//! rejected with a note in the text, and next to a conversation it gets no tools.

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

/// Recipes, with the rights that they have.
#[derive(Clone)]
pub struct RecipeBook {
    /// The recipes.
    pub recipes: Recipes,
    /// The working directory of their programs.
    pub project: PathBuf,
    /// The environment of their programs.
    pub env: Vec<(OsString, OsString)>,
    /// The program that starts their programs confined; without it, confined programs do not start.
    pub launcher: Option<PathBuf>,
    /// Decides which of the project's recipes may start programs.
    pub trust: RecipeTrust,
}

impl RecipeBook {
    /// Returns the recipe of this name.
    ///
    /// # Errors
    /// There is none, or it cannot be used.
    pub fn find(&self, name: &str) -> Result<Recipe, RecipeError> {
        self.recipes.find(name)
    }

    /// Returns the recipe of this name if it can run with these arguments. None of its programs is started.
    ///
    /// # Errors
    /// There is none, it cannot be used, or an argument is missing.
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

    /// Returns whether a recipe comes with the project and is not trusted. Next to a conversation, where no hooks run, it gets no tools.
    pub fn is_untrusted(&self, recipe: &Recipe) -> bool {
        recipe.layer().is_of_project() && !(self.trust)(recipe)
    }

    /// Returns whether a recipe could do more if it were trusted.
    pub fn needs_trust(&self, recipe: &Recipe) -> bool {
        let has_tools = recipe.allowed_tools.as_ref().is_none_or(|tools| !tools.is_empty());
        self.is_untrusted(recipe) && (has_tools || !recipe.programs().is_empty())
    }

    /// Returns whether a recipe has programs that do not start because it is not trusted.
    pub fn has_blocked_programs(&self, recipe: &Recipe) -> bool {
        self.is_untrusted(recipe) && !recipe.programs().is_empty()
    }

    /// Returns the shell that starts a recipe's programs; `cancel` stops them.
    pub fn shell(&self, recipe: &Recipe, cancel: &Cancel) -> Box<dyn Shell> {
        if self.has_blocked_programs(recipe) {
            return Box::new(NoShell);
        }
        let (project, env) = (self.project.clone(), self.env.clone());
        let (confinements, launcher) = (recipe.confinements.clone(), self.launcher.clone());
        Box::new(ProjectShell { project, env, confinements, launcher, cancel: cancel.clone() })
    }
}

impl fmt::Debug for RecipeBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the environment: it may hold secrets.
        f.debug_struct("RecipeBook").field("recipes", &self.recipes).finish_non_exhaustive()
    }
}

/// Joins diagnostics on one line.
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

/// Starts no programs.
struct NoShell;

impl Shell for NoShell {
    fn run(&self, _program: &str, _args: &[String]) -> CommandOutput {
        let why = "was not started: the recipe comes with the project and is not trusted (see `tenter trust`)";
        CommandOutput { text: String::new(), failure: Some(why.to_owned()) }
    }
}
