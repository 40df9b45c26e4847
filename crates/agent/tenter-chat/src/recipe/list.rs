//! `tenter recipe list`.

use std::path::Path;

use anstyle::Style;
use serde_json::{Value, json};
use tenter_agent::recipe::ListedRecipe;
use tenter_base::one_line;
use tenter_commands::project::Project;
use tenter_protocol::confinement::Confinement;
use tenter_terminal::text::{Cell, align};
use tenter_terminal::{CommandResult, Env, Exit, ui};

use super::FragmentDirs;
use crate::listing::{self, LENGTH};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    fragment_dirs: FragmentDirs,
    /// Print a JSON array: name, title, description, confine, layer, path, shadowed_by, usable.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let project = Project::open(env, project)?;
    let (recipes, findings) = args.fragment_dirs.book(&project).recipes.list();
    if args.json {
        let objects: Vec<Value> = recipes.iter().map(json).collect();
        ui::json(&objects);
    } else {
        let rows: Vec<Vec<Cell>> = recipes.iter().map(row).collect();
        align(&rows, 2).iter().for_each(ui::out);
    }
    ui::diagnostics(&findings);
    Ok(Exit::Done)
}

/// Returns a recipe as JSON. `confine` is empty if its programs are not confined, `shadowed_by` the file that is used instead.
fn json(recipe: &ListedRecipe) -> Value {
    json!({
        "name": recipe.name,
        "title": recipe.title,
        "description": recipe.description,
        "confine": recipe.confinements,
        "layer": recipe.origin.layer.as_str(),
        "path": recipe.origin.path.to_string_lossy(),
        "shadowed_by": recipe.shadowed_by.as_ref().map(|path| path.to_string_lossy()),
        "usable": !recipe.is_broken,
    })
}

fn row(recipe: &ListedRecipe) -> Vec<Cell> {
    let ListedRecipe { name, description, origin, is_broken, .. } = recipe;
    let [name, what] =
        listing::name_and_use(name, description, recipe.shadowed_by.as_deref(), *is_broken);
    let confined: Vec<&str> = recipe.confinements.iter().map(Confinement::label).collect();
    let confined = match confined.as_slice() {
        [] => String::new(),
        labels => format!("confined: {}", one_line(&labels.join(", "), LENGTH)),
    };
    let layer = (Style::new(), origin.layer.as_str().to_owned());
    vec![name, layer, what, (Style::new(), confined), listing::path(&origin.path)]
}
