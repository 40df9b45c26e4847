//! `tenter plugin list`.

use std::path::Path;

use anstyle::Style;
use tenter_base::one_line;
use tenter_terminal::text::{Cell, align};
use tenter_terminal::{CommandResult, Env, Exit, ui};

use super::json;
use super::places::{FoundPlugin, PluginDir, installed};
use crate::project;

/// Maximum number of characters shown of a name.
const LENGTH: usize = 100;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON array: name, location, path, skills, recipes, hooks.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let root = project::root(env, project)?;
    let plugins = installed(&PluginDir::all(env, &root))?;
    if args.json {
        let summary = |one: &FoundPlugin| json::summary(one.place.location, &one.plugin);
        ui::json(&plugins.iter().map(summary).collect::<Vec<_>>());
    } else if plugins.is_empty() {
        ui::note("No plugins are installed. `tenter plugin add ORG/REPO` installs one.");
    } else {
        table(&plugins).iter().for_each(ui::out);
    }
    Ok(Exit::Done)
}

/// Returns the lines of the table.
fn table(plugins: &[FoundPlugin]) -> Vec<String> {
    let header = ["NAME", "LOCATION", "SKILLS", "RECIPES", "HOOKS"].map(str::to_owned);
    let rule = header.each_ref().map(|title| "-".repeat(title.len()));
    let rows = plugins.iter().map(|FoundPlugin { place, plugin }| {
        let count = |part: &[String]| part.len().to_string();
        let name = one_line(&plugin.name, LENGTH);
        let location = place.location.as_str().to_owned();
        [name, location, count(&plugin.skills), count(&plugin.recipes), count(&plugin.hooks)]
    });
    let rows = [header, rule].into_iter().chain(rows);
    let rows: Vec<Vec<Cell>> =
        rows.map(|row| row.map(|cell| (Style::new(), cell)).into()).collect();
    align(&rows, 4)
}
