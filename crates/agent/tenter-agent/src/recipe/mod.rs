//! Recipes: prompts in files, with arguments and with restrictions for the agent (R53).
//!
//! `format` reads a recipe, `lookup` finds them, `builtin` has the built-in ones. [`render`] fills in the text, which is a
//! [template](tenter_template).
//!
//! Rendering a recipe may start programs, only through the [`Shell`] of the caller. The caller also decides which recipes may run;
//! [`Recipe::layer`] says whether a recipe comes with the project.

mod book;
mod builtin;
mod confine;
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
pub use format::{MAX_FILE_SIZE, Recipe, RecipeArgument, RecipeLayer, RecipeOrigin};
pub use lookup::{ListedRecipe, RecipeError, Recipes};
pub use shell::ProjectShell;
pub use tenter_template::{
    CommandOutput, MAX_DEPTH, MAX_OUTPUT_BYTES, MAX_RANGE_ITEMS, MISSING, Rendered, Shell,
};

use tenter_template::Inputs;

/// Fills in a recipe with these arguments. The warnings include those about the recipe's file.
///
/// # Errors
/// All problems; if only arguments are missing, every diagnostic has the id [`MISSING`].
pub fn render(
    recipe: &Recipe,
    args: &BTreeMap<String, String>,
    shell: &dyn Shell,
) -> Result<Rendered, Vec<Diagnostic>> {
    let defaults = recipe
        .arguments
        .iter()
        .filter_map(|argument| Some((argument.name.as_str(), argument.default.as_deref()?)));
    let values = args.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let values: Value = defaults.chain(values).collect();
    let names: Vec<&str> = recipe.arguments.iter().map(|argument| argument.name.as_str()).collect();
    let inputs = Inputs { values: &values, declared_arguments: &names };
    let rendering = recipe.template().render(&inputs, shell)?;
    let mut warnings = recipe.warnings().to_vec();
    warnings.extend(args.keys().filter_map(|name| useless(recipe, name)));
    warnings.extend(rendering.warnings);
    Ok(Rendered { text: rendering.text, warnings })
}

/// Returns the warning for an argument that the recipe does not use.
fn useless(recipe: &Recipe, name: &str) -> Option<Diagnostic> {
    let names: Vec<&str> = recipe.arguments.iter().map(|argument| argument.name.as_str()).collect();
    if names.contains(&name) || recipe.template().uses(name) {
        return None;
    }
    let message =
        format!("the recipe {} has no argument `{name}`: it changes nothing", recipe.name);
    let help = match nearest(name, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "it takes no arguments".to_owned(),
        None => format!("its arguments are {}", names.join(", ")),
    };
    Some(
        Diagnostic::new("recipe-useless-argument", Severity::Warning, message)
            .at(&recipe.origin.path)
            .help(help),
    )
}
