//! `tenter plugin verify`: compares plugins with what was installed.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use tenter_base::visible;
use tenter_engine::layout::plugin_name;
use tenter_plugins::{Difference, Lock, verify};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{BAD, CommandResult, Env, Exit, Failure, GOOD, NAME, styled, ui};

use super::places::{FoundPlugin, PluginDir, installed, unknown};
use crate::project;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// ORG/REPO or ORG@REPO; by default all plugins of the project and your own.
    names: Vec<String>,
    /// Print a JSON array: name, location, ok, differences, diagnostics.
    #[arg(long)]
    json: bool,
}

/// The result for one plugin, with the fields of the JSON output.
#[derive(Serialize)]
struct VerifiedPlugin {
    name: String,
    location: &'static str,
    ok: bool,
    differences: Vec<Difference>,
    diagnostics: Vec<Diagnostic>,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let root = project::root(env, project)?;
    let places = PluginDir::all(env, &root);
    let mut results = Vec::new();
    for place in &places {
        results.extend(verify_directory(place)?);
    }
    let names: BTreeSet<String> = args.names.iter().map(|name| plugin_name(name)).collect();
    if let Some(name) = names.iter().find(|name| results.iter().all(|one| one.name != **name)) {
        return Err(unknown(name, &installed(&places)?));
    }
    results.retain(|one| names.is_empty() || names.contains(&one.name));
    if args.json {
        ui::json(&results);
    } else {
        results.iter().for_each(print);
    }
    Ok(if results.iter().all(|one| one.ok) { Exit::Done } else { Exit::Failed })
}

/// Returns everything that is installed or recorded in a directory, by name.
fn verify_directory(place: &PluginDir) -> Result<Vec<VerifiedPlugin>, Failure> {
    let lock = place.plugins.lock()?;
    let plugins = installed(std::slice::from_ref(place))?;
    let names = lock.plugins().iter().map(|record| record.name.as_str());
    let names: BTreeSet<&str> =
        names.chain(plugins.iter().map(|plugins| plugins.plugin.name.as_str())).collect();
    Ok(names.into_iter().map(|name| look_at(place, name, &lock, &plugins)).collect())
}

fn look_at(place: &PluginDir, name: &str, lock: &Lock, plugins: &[FoundPlugin]) -> VerifiedPlugin {
    let plugin = plugins.iter().find(|one| one.plugin.name == name);
    let directory = plugin.map(|one| one.plugin.path.clone());
    let directory = directory.or_else(|| place.plugins.remains(name));
    let (differences, diagnostics) = match (directory, lock.get(name)) {
        (Some(directory), Some(record)) => verify(&directory, record),
        (Some(directory), None) => (Vec::new(), vec![unrecorded().at(directory)]),
        (None, _) => (Vec::new(), vec![gone()]),
    };
    let ok = differences.is_empty() && diagnostics.is_empty();
    VerifiedPlugin {
        name: name.to_owned(),
        location: place.location.as_str(),
        ok,
        differences,
        diagnostics,
    }
}

fn unrecorded() -> Diagnostic {
    let message = "plugin.lock has no record of this plugin";
    Diagnostic::new("plugin-unrecorded", Severity::Error, message)
        .help("`tenter plugin add SPEC --force` records it")
}

fn gone() -> Diagnostic {
    let message = "plugin.lock records this plugin, but it is not installed";
    Diagnostic::new("plugin-gone", Severity::Error, message)
        .help("`tenter plugin update` fetches it again; `tenter plugin remove` removes the record")
}

fn print(one: &VerifiedPlugin) {
    let end = if one.ok { styled(GOOD, "ok") } else { styled(BAD, "differs") };
    ui::out(format!("{}  {}  {end}", styled(NAME, visible(&one.name)), one.location));
    for difference in &one.differences {
        ui::out(format!("  {:7}  {}", difference.what, visible(&difference.path)));
    }
    one.diagnostics.iter().for_each(ui::diagnostic);
}
