//! Recipes: prompts that are kept as files, with arguments, and with limits to what the agent may do for them (R53).
//!
//! `format` reads one, `lookup` finds them, `builtin` holds those that come with Tenter. [`render`] makes the prompt; the
//! language of their texts is [`tenter_template`].
//!
//! A recipe is text, but a text that may start programs while it is rendered: they go through the [`Shell`] that comes in, and
//! nothing else here starts anything. Who may run which recipe, and what becomes of the prompt, is for the caller, who learns
//! from [`Recipe::layer`] whether the project brought it along.

mod book;
mod builtin;
mod format;
mod lookup;
mod restriction;
mod shell;

use std::collections::BTreeMap;

use serde_json::Value;
use tenter_base::nearest;
use tenter_protocol::{Diagnostic, Severity};

pub(crate) use book::in_words;
pub use book::{RecipeBook, RecipeTrust};
pub use format::{Argument, MAX_FILE_SIZE, Origin, Recipe, RecipeLayer};
pub use lookup::{ListedRecipe, RecipeError, Recipes};
pub use shell::ProjectShell;
pub use tenter_template::{
    CommandOutput, MAX_DEPTH, MAX_OUTPUT_BYTES, MAX_RANGE_ITEMS, MISSING, Rendered, Shell,
};

use tenter_template::Inputs;

/// The prompt that a recipe makes of these arguments. The warnings are those about the recipe's file, too.
///
/// # Errors
/// Everything that keeps it from becoming a text; where nothing but arguments is missing, all have the id [`MISSING`].
pub fn render(
    recipe: &Recipe,
    args: &BTreeMap<String, String>,
    shell: &dyn Shell,
) -> Result<Rendered, Vec<Diagnostic>> {
    let defaults = recipe
        .arguments
        .iter()
        .filter_map(|argument| Some((argument.name.as_str(), argument.default.as_deref()?)));
    let given = args.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let values: Value = defaults.chain(given).collect();
    let declared: Vec<&str> =
        recipe.arguments.iter().map(|argument| argument.name.as_str()).collect();
    let inputs = Inputs { values: &values, declared: &declared };
    let rendered = recipe.template().render(&inputs, shell)?;
    let mut warnings = recipe.warnings().to_vec();
    warnings.extend(args.keys().filter_map(|name| useless(recipe, name)));
    warnings.extend(rendered.warnings);
    Ok(Rendered { text: rendered.text, warnings })
}

/// An argument that was given and changes nothing.
fn useless(recipe: &Recipe, name: &str) -> Option<Diagnostic> {
    let declared: Vec<&str> =
        recipe.arguments.iter().map(|argument| argument.name.as_str()).collect();
    if declared.contains(&name) || recipe.template().uses(name) {
        return None;
    }
    let message =
        format!("the recipe {} has no argument `{name}`: it changes nothing", recipe.name);
    let help = match nearest(name, &declared) {
        Some(near) => format!("did you mean `{near}`?"),
        None if declared.is_empty() => "it takes no arguments".to_owned(),
        None => format!("its arguments are {}", declared.join(", ")),
    };
    Some(
        Diagnostic::new("recipe-useless-argument", Severity::Warning, message)
            .at(&recipe.origin.path)
            .help(help),
    )
}
