//! `tenter plugin show`.

use std::path::Path;

use tenter_base::{sanitize, visible};
use tenter_engine::layout::plugin_name;
use tenter_plugins::LockedPlugin;
use tenter_terminal::{CommandResult, Env, Exit, NAME, styled, ui};

use super::json;
use super::places::{FoundPlugin, PluginDir, installed, unknown};
use crate::project;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// ORG/REPO or ORG@REPO; the project's plugin has precedence over your own.
    name: String,
    /// Print a JSON object: name, location, path, skills, recipes, hooks, source, ref, commit, hash, installed_at.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let root = project::root(env, project)?;
    let plugins = installed(&PluginDir::all(env, &root))?;
    let name = plugin_name(&args.name);
    let one = plugins.iter().find(|plugins| plugins.plugin.name == name);
    let FoundPlugin { place, plugin } = one.ok_or_else(|| unknown(&name, &plugins))?;
    let lock = place.plugins.lock()?;
    let record = lock.get(&name);
    if args.json {
        ui::json(&json::details(place.location, plugin, record));
        return Ok(Exit::Done);
    }
    ui::out(styled(NAME, visible(&name)));
    line("Location", place.location.as_str());
    line("Path", &plugin.path.to_string_lossy());
    origin(record);
    for (title, names) in
        [("Skills", &plugin.skills), ("Recipes", &plugin.recipes), ("Hooks", &plugin.hooks)]
    {
        line(title, if names.is_empty() { "-" } else { "" });
        for part in names {
            ui::out(format!("    {}", visible(&format!("{name}/{part}"))));
        }
    }
    Ok(Exit::Done)
}

fn origin(record: Option<&LockedPlugin>) {
    let Some(record) = record else { return line("Source", "not recorded in plugin.lock") };
    line("Source", &record.source);
    line("Ref", record.reference.as_deref().unwrap_or("-"));
    line("Commit", record.commit.as_deref().unwrap_or("-"));
    line("Hash", &record.hash);
    line("Installed", &ui::short_time(&record.installed_at));
}

fn line(title: &str, text: &str) {
    let title = format!("{title}:");
    ui::out(format!("  {title:10} {}", sanitize(text)).trim_end());
}
