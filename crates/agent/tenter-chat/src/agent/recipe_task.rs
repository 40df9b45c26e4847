//! An agent that works on a recipe: finds it, asks whether its programs may start, and fills it in.

use std::collections::BTreeMap;

use tenter_agent::recipe::{MISSING, Recipe, RecipeBook, Rendered, render};
use tenter_commands::project::Project;
use tenter_commands::trust::{self, PendingTrust, TrustChoice};
use tenter_engine::inspect::KeyMask;
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Failure;

use super::build::BuiltAgent;
use super::recipes::{book, no_recipe, to_trust};
use super::{AgentArgs, trust_or_skip};
use crate::render::Show;

/// Returns the recipe that the user named, after the user decided whether its programs may start.
///
/// # Errors
/// There is no such recipe, it is invalid, or the user does not decide.
pub(crate) fn recipe_to_run(
    project: &mut Project,
    args: &AgentArgs,
    name: &str,
    show: &dyn Show,
) -> Result<Recipe, Failure> {
    let book = book(project, &args.fragment_dirs);
    let recipe = book.find(name).map_err(|error| no_recipe(&error))?;
    if book.has_blocked_programs(&recipe)
        && trust_or_skip(project, PendingTrust::recipe(&to_trust(&recipe)), show)?
            == TrustChoice::Trust
    {
        trust::trust_recipes(project, &[to_trust(&recipe)])?;
    }
    Ok(recipe)
}

impl BuiltAgent {
    /// Restricts the agent to the recipe's tools, and returns the recipe's text with its arguments filled in.
    ///
    /// # Errors
    /// The text cannot be filled in. The diagnostics have been shown.
    pub(crate) fn start_recipe(
        &mut self,
        recipe: &Recipe,
        arguments: &[(String, String)],
        show: &dyn Show,
        cancel: &Cancel,
    ) -> Result<String, Failure> {
        self.name_recipe(recipe);
        let tools = std::mem::take(&mut self.agent.tools);
        self.agent.tools = recipe.restrict(tools).map_err(|unknown| {
            Failure::new(format!("cannot use the recipe {:?}: {unknown}", recipe.name))
                .help("fix its `allowed_tools`")
        })?;
        let settings = &self.agent.settings;
        fill_in(recipe, arguments, (&settings.recipes, &settings.keys), ("--arg ", show), cancel)
    }
}

/// Returns the recipe's text with its arguments filled in and keys masked. `flag` precedes an argument in messages.
///
/// # Errors
/// The text cannot be filled in. The diagnostics have been shown.
pub(crate) fn fill_in(
    recipe: &Recipe,
    arguments: &[(String, String)],
    (book, keys): (&RecipeBook, &KeyMask),
    (flag, show): (&str, &dyn Show),
    cancel: &Cancel,
) -> Result<String, Failure> {
    let shell = book.shell(recipe, cancel);
    let arguments: BTreeMap<String, String> = arguments.iter().cloned().collect();
    match render(recipe, &arguments, shell.as_ref()) {
        Ok(Rendered { text, warnings }) => {
            for warning in &warnings {
                show.finding(warning);
            }
            Ok(keys.text(&text).into_owned())
        }
        Err(findings) => {
            for finding in &findings {
                show.finding(finding);
            }
            Err(not_filled_in(recipe, &findings, flag))
        }
    }
}

/// Returns the text of a recipe, followed by the user's message.
pub(crate) fn below(text: &str, message: &str) -> String {
    if message.is_empty() { text.to_owned() } else { format!("{}\n\n{message}", text.trim_end()) }
}

fn not_filled_in(recipe: &Recipe, findings: &[Diagnostic], flag: &str) -> Failure {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    if errors().any(|error| error.id != MISSING) {
        return Failure::new(format!("cannot fill in the recipe {:?}", recipe.name))
            .help("fix its file");
    }
    let is_missing =
        |name: &str| errors().any(|error| error.message.contains(&format!("`{name}`")));
    let missing = recipe.arguments.iter().filter(|argument| is_missing(&argument.name));
    let missing: Vec<String> = missing
        .map(|argument| match argument.description.as_str() {
            "" => format!("{flag}{}=…", argument.name),
            description => format!("{flag}{}=… ({description})", argument.name),
        })
        .collect();
    let failure = Failure::usage(format!("the recipe {:?} needs more arguments", recipe.name));
    if missing.is_empty() { failure } else { failure.help(missing.join("; ")) }
}
