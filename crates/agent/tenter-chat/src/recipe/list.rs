//! `tenter recipe list`.

use std::path::Path;

use serde::Serialize;
use tenter_agent::recipe::ListedRecipe;
use tenter_base::one_line;
use tenter_commands::project::Project;
use tenter_protocol::confinement::Confinement;
use tenter_terminal::{BAD, CommandResult, Env, Exit, FAINT, NAME, styled, ui};

use super::FragmentDirs;

/// Maximum number of characters shown of a description or a path.
const LENGTH: usize = 100;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    fragment_dirs: FragmentDirs,
    /// Print a JSON array: name, title, description, confine, layer, path, shadowed_by, usable.
    #[arg(long)]
    json: bool,
}

/// A recipe in the JSON output.
#[derive(Serialize)]
struct RecipeJson<'r> {
    name: &'r str,
    title: &'r str,
    description: &'r str,
    /// Empty if its programs are not confined.
    confine: &'r [Confinement],
    layer: &'static str,
    path: &'r Path,
    /// The file that is used instead; null if this one is used.
    shadowed_by: Option<&'r Path>,
    usable: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let project = Project::open(env, project)?;
    let (recipes, findings) = args.fragment_dirs.book(&project).recipes.list();
    if args.json {
        let objects: Vec<RecipeJson> = recipes.iter().map(json).collect();
        ui::out(serde_json::to_string_pretty(&objects).unwrap_or_default());
    } else {
        let width = |text: fn(&ListedRecipe) -> &str| {
            recipes
                .iter()
                .map(|recipe| one_line(text(recipe), LENGTH).chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths = (width(|recipe| &recipe.name), width(|recipe| recipe.origin.layer.as_str()));
        for recipe in &recipes {
            ui::out(line(recipe, widths));
        }
    }
    ui::diagnostics(&findings);
    Ok(Exit::Done)
}

fn json(recipe: &ListedRecipe) -> RecipeJson<'_> {
    RecipeJson {
        name: &recipe.name,
        title: &recipe.title,
        description: &recipe.description,
        confine: &recipe.confinements,
        layer: recipe.origin.layer.as_str(),
        path: &recipe.origin.path,
        shadowed_by: recipe.shadowed_by.as_deref(),
        usable: !recipe.is_broken,
    }
}

fn line(recipe: &ListedRecipe, (name, layer): (usize, usize)) -> String {
    let path_text = |path: &Path| one_line(&path.to_string_lossy(), LENGTH);
    let name = format!("{:name$}", one_line(&recipe.name, LENGTH));
    let layer = format!("{:layer$}", recipe.origin.layer.as_str());
    let (name, what) = match &recipe.shadowed_by {
        _ if recipe.is_broken => (styled(BAD, name), styled(BAD, "cannot be used")),
        Some(other) => {
            (styled(FAINT, name), styled(FAINT, format!("shadowed by {}", path_text(other))))
        }
        None => (styled(NAME, name), one_line(&recipe.description, LENGTH)),
    };
    let confined: Vec<&str> = recipe.confinements.iter().map(Confinement::label).collect();
    let confined = match confined.as_slice() {
        [] => String::new(),
        labels => format!("confined: {}", one_line(&labels.join(", "), LENGTH)),
    };
    let path = styled(FAINT, path_text(&recipe.origin.path));
    [name, layer, what, confined, path]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("  ")
}
