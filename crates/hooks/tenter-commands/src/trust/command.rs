//! `tenter trust`: which hooks, recipes, models and MCP servers of a project the user trusts (R45 to R47, R77).

use std::path::{Path, PathBuf};

use serde_json::json;
use tenter_base::visible;
use tenter_engine::Layer;
use tenter_engine::inspect::Catalog;
use tenter_engine::layout::ResourceName;
use tenter_proc::Cancel;
use tenter_terminal::question::read_at_terminal;
use tenter_terminal::{CommandResult, Env, Exit, Failure, NAME, styled, ui};

use crate::project::Project;
use crate::trust::{self, PendingTrust, TrustChoice};
use crate::{OwnAgent, user_only};

/// Choose which hooks, recipes, models and MCP servers of the project to trust.
///
/// Hooks and recipes are trusted with their present content; after a change you are asked again. Your own need no trust.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Trust everything without asking.
    #[arg(long)]
    yes: bool,
    /// List what you trust.
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    list: bool,
    /// Remove trust in the hook NAME, `recipe:NAME`, `model:PROVIDER/NAME`, `mcp:NAME`, `root:project`, or all of the project.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "yes")]
    revoke: Option<String>,
    /// Print JSON.
    #[arg(long, requires = "list")]
    json: bool,
    /// Also search DIR for recipes; repeatable.
    #[arg(long, value_name = "DIR")]
    fragment_dirs: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, args: &Args, agent: &dyn OwnAgent) -> CommandResult {
    let mut project = Project::open(env, project)?;
    if args.list {
        list(&project, args.json);
        return Ok(Exit::Done);
    }
    user_only::check(env, project.root(), "trust")?;
    if let Some(name) = &args.revoke {
        let name = ResourceName::new(name);
        return revoke(&mut project, Some(name.as_str()).filter(|name| !name.is_empty()));
    }
    let cancel = Cancel::new();
    let catalog = project.load(&cancel);
    ui::diagnostics(project.findings());
    note_managed(&catalog);
    let recipes = agent.untrusted_recipes(&project, &args.fragment_dirs);
    let pending = PendingTrust { hooks: catalog.untrusted(), recipes: &recipes };
    let is_root_asked = trust::settle_root(&mut project, args.yes)?;
    let is_agent_asked = agent.settle_trust(&mut project, args.yes)?;
    if !is_root_asked && pending.is_empty() && !is_agent_asked && catalog.lost().is_empty() {
        ui::note(format!(
            "Nothing to trust: everything in {} is already trusted.",
            visible(&project.root().to_string_lossy())
        ));
    }
    let choice = match pending {
        pending if pending.is_empty() => TrustChoice::Skip,
        _ if args.yes => TrustChoice::Trust,
        pending => trust::ask(&project, pending),
    };
    if choice == TrustChoice::Refuse {
        return Err(refusal(pending));
    }
    let (hooks, trusted_recipes) = choice.trusted(pending);
    let names = (hooks.as_slice(), trusted_recipes.as_slice());
    let catalog = trust::trust_pending(&mut project, catalog, names, &cancel)?;
    if args.yes {
        trust::accept_lost(&mut project, catalog, &cancel)?;
    } else {
        trust::settle_lost(&mut project, catalog, &mut read_at_terminal, &cancel)?;
    }
    Ok(Exit::Done)
}

/// Says which hooks an administrator manages: no trust of the user's adds or removes them.
fn note_managed(catalog: &Catalog) {
    let managed = catalog.hooks().iter().filter(|hook| hook.layer == Layer::Managed);
    let names: Vec<&str> = managed.map(|hook| hook.name.as_str()).collect();
    if !names.is_empty() {
        ui::note(format!(
            "Managed on this machine, and not yours to trust: {}.",
            visible(&names.join(", "))
        ));
    }
}

/// Returns the failure of this command if something stays untrusted.
fn refusal(pending: PendingTrust) -> Failure {
    let failure = pending.refusal();
    failure.help(if Env::can_ask() {
        "run `tenter trust` again when you have reviewed them"
    } else {
        "run `tenter trust` at a terminal, which asks; or `tenter trust --yes` to trust them as they are"
    })
}

fn revoke(project: &mut Project, name: Option<&str>) -> CommandResult {
    let root = visible(&project.root().to_string_lossy()).into_owned();
    match (trust::revoke(project, name)?, name) {
        (0, Some(name)) => Err(Failure::new(format!(
            "nothing named {name:?} of {} is trusted",
            project.root().display()
        ))
        .help("`tenter trust --list` shows what is")),
        (0, None) => {
            ui::note(format!("Nothing of {root} was trusted."));
            Ok(Exit::Done)
        }
        (count, _) => {
            let records = if count == 1 { "record" } else { "records" };
            ui::note(format!("Removed {count} trust {records} of {root}."));
            Ok(Exit::Done)
        }
    }
}

fn list(project: &Project, as_json: bool) {
    if as_json {
        let entries: Vec<_> = project
            .trust
            .list()
            .map(|(root, name, names)| {
                json!({"project": root.to_string_lossy(), "name": name, "path": names.path, "hash": names.hash.0,
                       "events": names.events, "trusted_at": names.trusted_at})
            })
            .collect();
        ui::json(&entries);
        return;
    }
    for (root, name, trusted) in project.trust.list() {
        // A recipe has no events.
        let events = trusted.events.join(", ");
        let parts = [
            visible(&root.to_string_lossy()).into_owned(),
            styled(NAME, visible(name)),
            events,
            trusted.trusted_at.clone(),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        ui::out(parts.join("  "));
    }
}
