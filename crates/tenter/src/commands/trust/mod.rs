//! `tenter trust`: which of a project's hooks may run, which of its recipes may start programs (R45 to R47), and whether it
//! may choose the model (R77). The commands that run an agent ask the same questions.

mod ask;
mod changes;
mod lost;

use std::path::Path;

use serde_json::json;
use tenter_agent::recipe::Recipe;
use tenter_agent::recipe::slashed;
use tenter_base::rfc3339;
use tenter_engine::catalog::{Catalog, Untrusted};
use tenter_engine::trust::TrustEntry;
use tenter_proc::Cancel;

use super::Done;
use super::recipe::FragmentDirs;
use crate::agent::models::consent::{self, ProjectModel};
use crate::agent::recipes;
use crate::env::{self, Env};
use crate::failure::{Exit, Failure};
use crate::hooks::Project;
use crate::sanitize::visible;
use crate::ui::{self, NAME, styled};
use crate::user_only;

pub(crate) use ask::{Choice, Waiting, ask, ask_through, read_at_terminal, tell_consequences};
pub(crate) use changes::view as view_hooks;
pub(crate) use lost::settle as settle_lost;

/// Choose what to trust of the project: hooks, recipes that start programs, a model that needs no key.
///
/// Hooks and recipes are trusted as they are now; a change of their content asks again. Your own need no trust.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Trust everything that is found now, without asking.
    #[arg(long)]
    yes: bool,
    /// List what is trusted.
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    list: bool,
    /// Take trust back: of this project's hook NAME, its recipe `recipe:NAME`, its model `model:PROVIDER/NAME`, or all.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "yes")]
    revoke: Option<String>,
    /// List as JSON.
    #[arg(long, requires = "list")]
    json: bool,
    #[command(flatten)]
    fragment_dirs: FragmentDirs,
}

/// Does it.
pub(crate) fn run(env: &Env, project: Option<&Path>, args: &Args) -> Done {
    let mut project = Project::open(env, project)?;
    if args.list {
        list(&project, args.json);
        return Ok(Exit::Done);
    }
    user_only::check(env, project.root(), "trust")?;
    if let Some(name) = &args.revoke {
        let name = slashed(name);
        return revoke(&mut project, Some(name.as_str()).filter(|name| !name.is_empty()));
    }
    let cancel = Cancel::new();
    let catalog = project.load(&cancel);
    ui::diagnostics(project.findings());
    let recipes = recipes::held_back(&args.fragment_dirs.book(&project));
    let waiting = Waiting { hooks: catalog.untrusted(), recipes: &recipes };
    let models = consent::waiting(&project);
    consent_to(&project, &models, args.yes)?;
    if waiting.is_empty() && models.is_empty() && catalog.lost().is_empty() {
        ui::note(format!(
            "Nothing to trust: no hook and no recipe of {} waits for it.",
            visible(&project.root().to_string_lossy())
        ));
    }
    let choice = match waiting {
        waiting if waiting.is_empty() => Choice::Skip,
        _ if args.yes => Choice::Trust,
        waiting => ask(&project, waiting),
    };
    let catalog = match choice {
        Choice::Trust => trust_waiting(&mut project, catalog, &recipes, &cancel)?,
        Choice::Skip => catalog,
        Choice::Refuse => return Err(waiting.refusal()),
    };
    if args.yes {
        accept_lost(&mut project, catalog, &cancel)?;
    } else {
        settle_lost(&mut project, catalog, &mut read_at_terminal, &cancel)?;
    }
    Ok(Exit::Done)
}

/// Accepts the state of the project without the hooks that it has lost, and says so. Returns the catalog as it is then.
pub(crate) fn accept_lost(
    project: &mut Project,
    catalog: Catalog,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    if catalog.lost().is_empty() {
        return Ok(catalog);
    }
    accept(project, &catalog)?;
    let names: Vec<&str> = catalog.lost().iter().map(|lost| lost.name.as_str()).collect();
    ui::note(format!("Accepted without: {}.", visible(&names.join(", "))));
    Ok(project.load(cancel))
}

/// Asks whether the project may have its agent answer with these models, and remembers it.
fn consent_to(project: &Project, models: &[ProjectModel], yes: bool) -> Result<(), Failure> {
    for model in models {
        if !yes && !model.ask(project) {
            return Err(model.refusal());
        }
        model.remember(project)?;
        ui::note(format!("Trusted: {}.", visible(&model.trust_name())));
    }
    Ok(())
}

/// Trusts everything that waits for it, says so, and returns the catalog as it is then.
pub(crate) fn trust_waiting(
    project: &mut Project,
    catalog: Catalog,
    recipes: &[Recipe],
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let catalog = if catalog.untrusted().is_empty() {
        catalog
    } else {
        trust_and_reload(project, &catalog, cancel)?
    };
    trust_recipes(project, recipes)?;
    Ok(catalog)
}

/// [`trust_all`], and says so.
pub(crate) fn trust_and_reload(
    project: &mut Project,
    catalog: &Catalog,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let reloaded = trust_all(project, catalog, cancel)?;
    let names: Vec<&str> = catalog.untrusted().iter().map(|hook| hook.name.as_str()).collect();
    ui::note(format!("Trusted: {}.", visible(&names.join(", "))));
    // Nobody may have been asked.
    catalog.untrusted().iter().for_each(tell_consequences);
    Ok(reloaded)
}

/// [`trust_some`], of all that wait for it.
pub(crate) fn trust_all(
    project: &mut Project,
    catalog: &Catalog,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    trust_some(project, catalog.untrusted(), cancel)
}

/// Trusts these hooks and loads the catalog again; their events, known only now, are recorded with them.
///
/// # Errors
/// One of them changed while the user was asked: what they trusted is not what is there.
pub(crate) fn trust_some(
    project: &mut Project,
    hooks: &[Untrusted],
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let entries: Vec<TrustEntry> = hooks.iter().map(TrustEntry::from).collect();
    trust(project, &entries)?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let reloaded = project.load(cancel);
    let is_meant = |hook: &&Untrusted| names.contains(&hook.name.as_str());
    let changed: Vec<&str> =
        reloaded.untrusted().iter().filter(is_meant).map(|hook| hook.name.as_str()).collect();
    if !changed.is_empty() {
        return Err(changed_meanwhile(&changed));
    }
    let with_events: Vec<TrustEntry> = reloaded
        .hooks()
        .iter()
        .filter(|hook| hook.layer.needs_trust() && names.contains(&hook.name.as_str()))
        .map(|hook| TrustEntry::from(hook.as_ref()))
        .collect();
    trust(project, &with_events)?;
    accept_if_complete(project, &reloaded)?;
    Ok(reloaded)
}

/// What the user trusted is not what is there any more, so nothing runs.
fn changed_meanwhile(names: &[&str]) -> Failure {
    let names = names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
    let failure =
        Failure::new(format!("changed while you were asked about it: {names}; nothing is run"));
    Failure { exit: Exit::Untrusted, ..failure }
        .help("run the command again, and look at what changed")
}

/// [`accept`], unless a trusted hook does not run: that is for the user to decide.
pub(crate) fn accept_if_complete(project: &mut Project, catalog: &Catalog) -> Result<(), Failure> {
    if catalog.lost().is_empty() { accept(project, catalog) } else { Ok(()) }
}

/// Accepts the state of the project: trusted hooks that do not run in it are not missed.
pub(crate) fn accept(project: &mut Project, catalog: &Catalog) -> Result<(), Failure> {
    let root = project.root().to_owned();
    project.trust.accept(&root, catalog.state()).map_err(|error| Failure::new(error.to_string()))
}

/// Trusts recipes as they were read, and says so.
pub(crate) fn trust_recipes(project: &mut Project, recipes: &[Recipe]) -> Result<(), Failure> {
    if recipes.is_empty() {
        return Ok(());
    }
    let entries: Vec<TrustEntry> = recipes.iter().map(recipes::trust_entry).collect();
    trust(project, &entries)?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    ui::note(format!("Trusted: {}.", visible(&names.join(", "))));
    Ok(())
}

/// Records trust in the store.
pub(crate) fn trust(project: &mut Project, entries: &[TrustEntry]) -> Result<(), Failure> {
    let root = project.root().to_owned();
    project
        .trust
        .trust(&root, entries, &rfc3339(env::now()))
        .map_err(|error| Failure::new(error.to_string()))
}

fn revoke(project: &mut Project, name: Option<&str>) -> Done {
    let root = project.root().to_owned();
    let shown = visible(&root.to_string_lossy()).into_owned();
    let revoked =
        project.trust.revoke(&root, name).map_err(|error| Failure::new(error.to_string()))?;
    match (revoked, name) {
        (0, Some(name)) => {
            Err(Failure::new(format!("nothing named {name:?} of {} is trusted", root.display()))
                .help("tenter trust --list shows what is"))
        }
        (0, None) => {
            ui::note(format!("Nothing of {shown} was trusted."));
            Ok(Exit::Done)
        }
        (count, _) => {
            ui::note(format!("Took trust back from {count} of the hooks and recipes of {shown}."));
            Ok(Exit::Done)
        }
    }
}

fn list(project: &Project, as_json: bool) {
    if as_json {
        let entries: Vec<_> = project
            .trust
            .list()
            .map(|(root, name, trusted)| {
                json!({"project": root.to_string_lossy(), "name": name, "path": trusted.path, "hash": trusted.hash.0,
                       "events": trusted.events, "trusted_at": trusted.trusted_at})
            })
            .collect();
        ui::out(serde_json::to_string_pretty(&entries).unwrap_or_default());
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
