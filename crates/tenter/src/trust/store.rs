//! Keeps in the trust store what the user agreed to.

use std::path::Path;

use tenter_agent::recipe::Recipe;
use tenter_base::rfc3339;
use tenter_engine::catalog::{Catalog, Untrusted};
use tenter_engine::trust::{TrustEntry, TrustStore};
use tenter_proc::Cancel;

use super::ask::note_consequences;
use super::record::TrustRecord;
use crate::env;
use crate::failure::{Exit, Failure};
use crate::project::Project;
use crate::sanitize::visible;
use crate::ui;

/// Records trust in the store.
pub(crate) fn record(project: &mut Project, entries: &[TrustEntry]) -> Result<(), Failure> {
    let root = project.root().to_owned();
    record_in(&mut project.trust, &root, entries)
}

/// Records trust in this store, for the project with this root.
pub(crate) fn record_in(
    store: &mut TrustStore,
    root: &Path,
    entries: &[TrustEntry],
) -> Result<(), Failure> {
    store.trust(root, entries, &rfc3339(env::now())).map_err(Failure::from)
}

/// Removes the trust recorded under `name`, or all trust of the project. Returns how many records were removed.
pub(crate) fn revoke(project: &mut Project, name: Option<&str>) -> Result<usize, Failure> {
    let root = project.root().to_owned();
    project.trust.revoke(&root, name).map_err(Failure::from)
}

/// Accepts the state of the project: trusted hooks that do not run in it are not missed.
pub(crate) fn accept(project: &mut Project, catalog: &Catalog) -> Result<(), Failure> {
    let root = project.root().to_owned();
    accept_in(&mut project.trust, &root, catalog)
}

/// [`accept`], in this store.
pub(super) fn accept_in(
    store: &mut TrustStore,
    root: &Path,
    catalog: &Catalog,
) -> Result<(), Failure> {
    store.accept(root, catalog.state()).map_err(Failure::from)
}

/// [`accept`], unless a trusted hook does not run: that is for the user to decide.
pub(crate) fn accept_if_complete(project: &mut Project, catalog: &Catalog) -> Result<(), Failure> {
    if catalog.lost().is_empty() { accept(project, catalog) } else { Ok(()) }
}

/// Trusts every pending hook and recipe, and says so. Returns the reloaded catalog.
pub(crate) fn trust_pending(
    project: &mut Project,
    catalog: Catalog,
    recipes: &[Recipe],
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let catalog = if catalog.untrusted().is_empty() {
        catalog
    } else {
        trust_untrusted_hooks(project, &catalog, cancel)?
    };
    trust_recipes(project, recipes)?;
    Ok(catalog)
}

/// Trusts every untrusted hook of the catalog, and says so. Returns the reloaded catalog.
pub(crate) fn trust_untrusted_hooks(
    project: &mut Project,
    catalog: &Catalog,
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let reloaded = trust_hooks(project, catalog.untrusted(), cancel)?;
    note_trusted(catalog.untrusted().iter().map(|hook| hook.name.as_str()));
    // The user may have trusted them without being asked.
    catalog.untrusted().iter().for_each(note_consequences);
    Ok(reloaded)
}

/// Trusts these hooks and reloads the catalog. Their events, which are known only then, are recorded with them.
///
/// # Errors
/// One of them changed while the user was asked: what they trusted is not what is there.
pub(crate) fn trust_hooks(
    project: &mut Project,
    hooks: &[Untrusted],
    cancel: &Cancel,
) -> Result<Catalog, Failure> {
    let entries: Vec<TrustEntry> = hooks.iter().map(TrustEntry::from).collect();
    record(project, &entries)?;
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
    record(project, &with_events)?;
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
pub(crate) fn trust_recipes(project: &mut Project, recipes: &[Recipe]) -> Result<(), Failure> {
    if recipes.is_empty() {
        return Ok(());
    }
    let records: Vec<TrustRecord> = recipes.iter().map(TrustRecord::of_recipe).collect();
    let entries: Vec<TrustEntry> = records.iter().map(TrustRecord::entry).collect();
    record(project, &entries)?;
    note_trusted(records.iter().map(TrustRecord::name));
    Ok(())
}

fn note_trusted<'n>(names: impl Iterator<Item = &'n str>) {
    let names = names.collect::<Vec<_>>().join(", ");
    ui::note(format!("Trusted: {}.", visible(&names)));
}
