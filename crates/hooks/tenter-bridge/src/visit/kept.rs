//! Hooks that a process keeps in memory between events, until a file changes that may change them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tenter_engine::inspect::{Catalog, HookFiles, Status};
use tenter_engine::trust::{Covered, CoveredStamp};

/// The nanoseconds for which a file must have been unchanged before the hooks were loaded. A file that changed a moment ago could change again
/// without a difference.
const SETTLED_NS: i128 = 2_000_000_000;

/// The hooks of each project, as they were loaded last.
#[derive(Debug, Default)]
pub struct KeptHooks(Mutex<BTreeMap<PathBuf, Arc<KeptCatalog>>>);

/// The hooks of one project.
#[derive(Debug)]
pub(super) struct KeptCatalog {
    pub(super) catalog: Arc<Catalog>,
    /// The files that decide which hooks there are.
    files: HookFiles,
    /// The files of each hook.
    stamps: Vec<(Covered, CoveredStamp)>,
}

impl KeptHooks {
    /// Returns the hooks of a project, if the files that decide which hooks there are did not change. `files` is their present state.
    pub(super) fn get(&self, project: &Path, files: &HookFiles) -> Option<Arc<KeptCatalog>> {
        let entry = Arc::clone(self.all().get(project)?);
        (entry.files == *files).then_some(entry)
    }

    /// Keeps the hooks of a project, which were loaded since `started_ns` by the visitor's clock, after `files` was read. Hooks are loaded at each
    /// event while one of them cannot run, because that may change without a change of its files.
    pub(super) fn put(
        &self,
        project: &Path,
        (files, started_ns): (HookFiles, i128),
        catalog: &Arc<Catalog>,
    ) {
        if let Some(stamps) = stamps(catalog, started_ns - SETTLED_NS) {
            let entry = KeptCatalog { catalog: Arc::clone(catalog), files, stamps };
            self.all().insert(project.to_owned(), Arc::new(entry));
        }
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Arc<KeptCatalog>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptCatalog {
    /// Returns whether no file of a hook changed.
    pub(super) fn is_current(&self) -> bool {
        let is_same = |(covered, stamp): &(Covered, CoveredStamp)| {
            CoveredStamp::read(covered).is_ok_and(|now| now == *stamp)
        };
        self.stamps.iter().all(is_same)
    }
}

/// Returns the stamps of all hooks; `None` if one of them cannot run, or has a file that changed since `latest_ns`.
fn stamps(catalog: &Catalog, latest_ns: i128) -> Option<Vec<(Covered, CoveredStamp)>> {
    let can_run = |status: &Status| {
        matches!(status, Status::Active | Status::Disabled | Status::Shadowed { .. })
    };
    let has_all = catalog.untrusted().is_empty()
        && catalog.missing().is_empty()
        && catalog.lost().is_empty()
        && catalog.listing().iter().all(|hook| can_run(&hook.status));
    let stamp = |covered: &Covered| {
        let stamp = CoveredStamp::read(covered).ok()?;
        let is_old = stamp.newest().is_none_or(|newest| newest.changed_ns() < latest_ns);
        is_old.then(|| (covered.clone(), stamp))
    };
    if !has_all {
        return None;
    }
    catalog.listing().iter().map(|hook| stamp(&hook.covered)).collect()
}
