//! `tenter plugin add`.

use std::path::Path;

use tenter_plugins::{Content, Fetched, Installed, Spec, changes};
use tenter_proc::Cancel;
use tenter_terminal::{CommandResult, Env, Exit, Failure, signals, ui};

use super::json;
use super::obtain::{self, ObtainError};
use super::places::{PluginDir, PluginLocation};
use super::{consent, local_source};
use crate::project::Project;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct Args {
    /// ORG/REPO at GitHub, a git URL, or a path that begins with ./ or /; optionally followed by @REF: a branch, a tag or a
    /// commit.
    #[arg(required = true, value_name = "SPEC")]
    specs: Vec<String>,
    /// Install for yourself instead of for the project.
    #[arg(short, long)]
    global: bool,
    /// Replace installed plugins.
    #[arg(long)]
    force: bool,
    /// Trust the hooks of the plugins without asking.
    #[arg(long, visible_alias = "yes")]
    trust: bool,
    /// Continue with the next plugin after a failure.
    #[arg(long)]
    continue_on_error: bool,
    /// Print a JSON array of the installed plugins.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(env: &Env, project: Option<&Path>, args: &Args) -> CommandResult {
    let (specs, unreadable) = specs(env, args)?;
    let mut project = Project::open(env, project)?;
    let place = PluginDir::to_change(env, project.root(), args.global)?;
    let cancel = signals::cancel()?;
    let (plugins, exit) = add_all(&mut project, &place, &specs, args, &cancel);
    if args.json {
        print_json(&place, &plugins)?;
    } else {
        plugins.iter().for_each(print);
    }
    let exit = if exit == Exit::Done { unreadable } else { exit };
    if place.location == PluginLocation::Local && !cancel.is_cancelled() {
        let names: Vec<String> = plugins.into_iter().map(|plugin| plugin.name).collect();
        consent::settle(&mut project, &names, args.trust, &cancel)?;
    }
    Ok(exit)
}

/// Parses the specs. The exit code is for invalid ones; the first is an error unless the command continues on errors.
fn specs(env: &Env, args: &Args) -> Result<(Vec<Spec>, Exit), Failure> {
    let mut exit = Exit::Done;
    let mut specs = Vec::new();
    for text in &args.specs {
        let failure = match Spec::parse(text, &env.cwd) {
            Ok(spec) => {
                specs.push(spec);
                continue;
            }
            Err(why) => Failure::usage(why)
                .help("a plugin is ORG/REPO, a URL or a path, optionally followed by @REF"),
        };
        if !args.continue_on_error {
            return Err(failure);
        }
        ui::failure(&failure);
        exit = failure.exit;
    }
    Ok((specs, exit))
}

fn add_all(
    project: &mut Project,
    place: &PluginDir,
    specs: &[Spec],
    args: &Args,
    cancel: &Cancel,
) -> (Vec<Installed>, Exit) {
    let mut plugins = Vec::new();
    let mut exit = Exit::Done;
    for spec in specs {
        match add(project, place, spec, args.force, cancel) {
            Ok(plugin) => plugins.push(plugin),
            Err(error) => {
                exit = error.print(&spec.name.to_string());
                if !args.continue_on_error || cancel.is_cancelled() {
                    break;
                }
            }
        }
    }
    (plugins, exit)
}

fn add(
    project: &mut Project,
    place: &PluginDir,
    spec: &Spec,
    force: bool,
    cancel: &Cancel,
) -> Result<Installed, ObtainError> {
    if !force && place.plugins.place(&spec.name).symlink_metadata().is_ok() {
        return Err(obtain::already(place, &spec.name.to_string()).into());
    }
    let obtained = obtain::fetch(project, place, spec, cancel)?;
    if place.location == PluginLocation::Local && changes_hooks(place, spec, &obtained.1) {
        consent::withdraw(project, &spec.name.to_string())?;
    }
    let plugin = obtain::install(place, spec, &obtained, force)?;
    local_source::remember(project, place, spec)?;
    Ok(plugin)
}

/// Checks whether a hook, or a file that hooks may share, differs from what is installed. If nothing is installed, everything is new:
/// what was once trusted under these names may have shared other files.
fn changes_hooks(place: &PluginDir, spec: &Spec, fetched: &Fetched) -> bool {
    let directory = place.plugins.place(&spec.name);
    let before =
        if directory.exists() { Content::read_installed(&directory).0 } else { Content::default() };
    changes(&before, &fetched.content).iter().any(|change| change.path.starts_with("hooks/"))
}

fn print(plugin: &Installed) {
    ui::out(format!("Installed {}:", plugin.name));
    ui::out(format!("  Skills:  {}", plugin.skills.len()));
    ui::out(format!("  Recipes: {}", plugin.recipes.len()));
    ui::out(format!("  Hooks:   {}", plugin.hooks.len()));
}

fn print_json(place: &PluginDir, plugins: &[Installed]) -> Result<(), Failure> {
    let lock = place.plugins.lock()?;
    let details =
        |plugin: &Installed| json::details(place.location, plugin, lock.get(&plugin.name));
    ui::json(&plugins.iter().map(details).collect::<Vec<_>>());
    Ok(())
}
