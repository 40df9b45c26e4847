//! Hooks that change while the agent runs (R75): one that was trusted since is reloaded and runs, any other denies.

use std::sync::{Arc, Mutex, PoisonError};

use tenter_proc::Cancel;

use super::candidates::CandidateCache;
use crate::catalog::{Catalog, Untrusted};
use crate::hook::Hook;

/// Reloads hooks after one of them changed. Without it, a hook that changed denies until the end of the session.
pub trait Reload: Send + Sync {
    /// Loads all hooks in their present state, with the trust store as it is now.
    fn load(&self, cancel: &Cancel) -> Catalog;

    /// Asks the user whether `hook` may run in its present state, and records it if so. `catalog` is everything that was
    /// loaded: hooks that changed with it, because they share a helper, are among its [`untrusted`](Catalog::untrusted), so
    /// that one question can cover them all. Questions come one at a time, from the thread that dispatches, and the event
    /// waits for the answer. Returns whether anything was trusted; without a terminal, nothing is.
    fn ask(&self, hook: &Untrusted, catalog: &Catalog, cancel: &Cancel) -> bool {
        let (_, _, _) = (hook, catalog, cancel);
        false
    }
}

/// A catalog, and the candidates found in it so far.
pub(super) struct Loaded {
    pub(super) catalog: Arc<Catalog>,
    pub(super) candidates: CandidateCache,
}

/// The catalog in use. It changes when a hook is renewed.
pub(super) struct Current {
    state: Mutex<Arc<Loaded>>,
    reload: Option<Arc<dyn Reload>>,
    /// Held while a hook is renewed, so that tool calls running in parallel ask once.
    renewing: Mutex<()>,
}

impl Current {
    pub(super) fn new(catalog: Catalog) -> Self {
        let state = Mutex::new(loaded(catalog));
        Self { state, reload: None, renewing: Mutex::default() }
    }

    pub(super) fn reloading(self, reload: Arc<dyn Reload>) -> Self {
        Self { reload: Some(reload), ..self }
    }

    /// Returns the same, with another catalog.
    pub(super) fn with_catalog(self, catalog: Catalog) -> Self {
        Self { state: Mutex::new(loaded(catalog)), ..self }
    }

    pub(super) fn get(&self) -> Arc<Loaded> {
        Arc::clone(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the same hook as `hook`, which changed since it was loaded, in a state that was trusted since. From now on it is
    /// used instead. Nothing else in the catalog is replaced: no hook disappears because another one changed.
    pub(super) fn renew(&self, hook: &Arc<Hook>, cancel: &Cancel) -> Option<Arc<Hook>> {
        let reload = self.reload.as_ref()?;
        let _one_at_a_time = self.renewing.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.get();
        if let Some(other) =
            find_renewed(&now.catalog, hook).filter(|other| !Arc::ptr_eq(other, hook))
        {
            return Some(Arc::clone(other));
        }
        let mut reloaded = reload.load(cancel);
        let is_same = |one: &&Untrusted| one.name == hook.name && Some(&*one.path) == hook.path();
        if let Some(current) = reloaded.untrusted().iter().find(is_same)
            && reload.ask(current, &reloaded, cancel)
        {
            reloaded = reload.load(cancel);
        }
        let renewed = Arc::clone(find_renewed(&reloaded, hook)?);
        let catalog = now.catalog.with_renewed(hook, &renewed);
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = loaded(catalog);
        Some(renewed)
    }
}

fn loaded(catalog: Catalog) -> Arc<Loaded> {
    Arc::new(Loaded { catalog: Arc::new(catalog), candidates: CandidateCache::default() })
}

/// Returns the hook in `catalog` with the name, path and layer of `hook`.
fn find_renewed<'c>(catalog: &'c Catalog, hook: &Hook) -> Option<&'c Arc<Hook>> {
    let is_same = |other: &&Arc<Hook>| {
        (&other.name, &other.path, other.layer) == (&hook.name, &hook.path, hook.layer)
    };
    catalog.hooks().iter().find(is_same)
}
