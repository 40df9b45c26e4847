//! Keeps in the trust store what the user agreed to.

use std::collections::BTreeMap;
use std::path::Path;

use tenter_base::{rfc3339, visible};
use tenter_engine::inspect::{Catalog, LostHook, Untrusted};
use tenter_engine::trust::{TrustEntry, TrustStore};
use tenter_proc::Cancel;
use tenter_terminal::{Exit, Failure, now, ui};

use super::ask::note_consequences;
use super::record::{ProjectRecipe, TrustRecord};
use crate::project::Project;

/// Records trust in the store.
pub fn record(project: &mut Project, entries: &[TrustEntry]) -> Result<(), Failure> {
    let root = project.root().to_owned();
    record_in(&mut project.trust, &root, entries)
}

/// Records trust in hooks in this store, each for its own project.
pub(super) fn record_hooks_in(store: &mut TrustStore, hooks: &[Untrusted]) -> Result<(), Failure> {
    let entries = hooks.iter().map(|hook| (hook.project.as_path(), TrustEntry::from(hook)));
    record_each(store, entries)
}

fn record_each<'p>(
    store: &mut TrustStore,
    entries: impl Iterator<Item = (&'p Path, TrustEntry)>,
) -> Result<(), Failure> {
    let mut by_project = BTreeMap::<&Path, Vec<TrustEntry>>::new();
    for (project, entry) in entries {
        by_project.entry(project).or_default().push(entry);
    }
    by_project.iter().try_for_each(|(project, entries)| record_in(store, project, entries))
}

/// Records trust in this store, for the project with this root.
pub fn record_in(
    store: &mut TrustStore,
    root: &Path,
    entries: &[TrustEntry],
) -> Result<(), Failure> {
    store.trust(root, entries, &rfc3339(now())).map_err(Failure::from)
}

/// Removes the trust recorded under `name`, or all trust of the project. Returns how many records were removed.
pub fn revoke(project: &mut Project, name: Option<&str>) -> Result<usize, Failure> {
    let root = project.root().to_owned();
    project.trust.revoke(&root, name).map_err(Failure::from)
}

/// Removes the trust in a hook that no longer runs.
pub(super) fn forget(project: &mut Project, loss: &LostHook) -> Result<usize, Failure> {
    project.trust.revoke(&loss.project, Some(&loss.name)).map_err(Failure::from)
}

/// Accepts the state of the project, and of those around it: trusted hooks that do not run in it are not missed.
pub fn accept(project: &mut Project, catalog: &Catalog) -> Result<(), Failure> {
    accept_in(&mut project.trust, catalog)
}

/// Accepts that the user disabled a trusted hook themselves. Other trusted hooks that do not run are still missed.
pub fn accept_disabled(
    project: &mut Project,
    catalog: &Catalog,
    name: &str,
) -> Result<(), Failure> {
    if catalog.lost().iter().all(|loss| loss.name == name) {
        return accept(project, catalog);
    }
    let mut losses = catalog.lost().iter().filter(|loss| loss.name == name);
    losses
        .try_for_each(|loss| project.trust.accept_loss(&loss.project, name).map_err(Failure::from))
}

/// Trusts as [`accept`], in this store.
pub(super) fn accept_in(store: &mut TrustStore, catalog: &Catalog) -> Result<(), Failure> {
    let hooks = catalog.hooks().iter().filter(|hook| hook.layer.needs_trust());
    let running: Vec<&str> = hooks.map(|hook| hook.name.as_str()).collect();
    let mut states = catalog.states().iter();
    states.try_for_each(|(root, state)| {
        let losses = catalog.lost().iter().filter(|loss| loss.project == *root);
        let names: Vec<&str> = losses.map(|loss| loss.name.as_str()).collect();
        store.accept(root, state, (&names, &running)).map_err(Failure::from)
    })
}

/// Trusts as [`accept`], unless a trusted hook does not run: that is for the user to decide.
pub fn accept_if_complete(project: &mut Project, catalog: &Catalog) -> Result<(), Failure> {
    if catalog.lost().is_empty() { accept(project, catalog) } else { Ok(()) }
}

/// Trusts hooks and recipes, and says so. Returns the catalog, reloaded if hooks are trusted now.
pub fn trust_pending(
    project: &mut Project,
    catalog: Catalog,
    (hooks, recipes): (&[Untrusted], &[ProjectRecipe]),
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let catalog = if hooks.is_empty() {
        catalog
    } else {
        let reloaded = trust_hooks(project, hooks, cancel)?;
        note_trusted(hooks.iter().map(|hook| hook.name.as_str()));
        // The user may have trusted them without being asked.
        hooks.iter().for_each(note_consequences);
        reloaded
    };
    trust_recipes(project, recipes)?;
    Ok(catalog)
}

/// Trusts these hooks and reloads the catalog. Their events, which are known only then, are recorded with them.
///
/// # Errors
/// One of them changed while the user was asked: what they trusted is not what is there.
pub fn trust_hooks(
    project: &mut Project,
    hooks: &[Untrusted],
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    record_hooks_in(&mut project.trust, hooks)?;
    let reloaded = project.load(cancel);
    let is_path = |path: &Path| hooks.iter().any(|hook| hook.path == path);
    let is_meant = |hook: &&Untrusted| is_path(&hook.path);
    let names: Vec<&str> =
        reloaded.untrusted().iter().filter(is_meant).map(|hook| hook.name.as_str()).collect();
    if !names.is_empty() {
        return Err(changed_meanwhile(&names));
    }
    let root = project.root().to_owned();
    let running = reloaded.hooks().iter().filter(|hook| hook.path().is_some_and(is_path));
    let with_events = running
        .filter_map(|hook| Some((hook.outer.as_deref().unwrap_or(&root), hook.trust_entry()?)));
    record_each(&mut project.trust, with_events)?;
    accept_if_complete(project, &reloaded)?;
    Ok(reloaded)
}

fn changed_meanwhile(names: &[&str]) -> Failure {
    let names = names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
    let failure =
        Failure::new(format!("changed while you were asked about it: {names}; nothing is run"));
    Failure { exit: Exit::Untrusted, ..failure }
        .help("run the command again, and look at what changed")
}

/// Trusts recipes as they were read, and says so.
pub fn trust_recipes(project: &mut Project, recipes: &[ProjectRecipe]) -> Result<(), Failure> {
    if recipes.is_empty() {
        return Ok(());
    }
    let records: Vec<TrustRecord> = recipes.iter().map(TrustRecord::from_recipe).collect();
    let entries: Vec<TrustEntry> = records.iter().map(TrustRecord::entry).collect();
    record(project, &entries)?;
    note_trusted(records.iter().map(TrustRecord::name));
    Ok(())
}

fn note_trusted<'n>(names: impl Iterator<Item = &'n str>) {
    let names = names.collect::<Vec<_>>().join(", ");
    ui::note(format!("Trusted: {}.", visible(&names)));
}
