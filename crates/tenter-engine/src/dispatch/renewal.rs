//! Hooks that changed while the agent runs (R75): what was trusted since is loaded and runs; anything else denies.

use std::sync::{Arc, Mutex, PoisonError};

use tenter_proc::Cancel;

use super::by_tool::ByTool;
use crate::catalog::{Catalog, Untrusted};
use crate::hook::Hook;

/// Loads hooks again after one of them changed. An engine without one never does: a hook that changed denies until the end.
pub trait Reload: Send + Sync {
    /// Loads every hook as it is now, under what is trusted now: the trust store is read again.
    fn load(&self, cancel: &Cancel) -> Catalog;

    /// Asks the user at once whether `changed` may run as it is now, and records it if so. `found` is everything that was loaded:
    /// hooks that changed with it, because they share a helper, are among its [`untrusted`](Catalog::untrusted), so one question
    /// can be about all of them. Only one question is asked at a time, from the thread that dispatches, and the event waits for
    /// the answer. Returns whether anything was trusted; without a terminal there is nobody to ask.
    fn ask(&self, changed: &Untrusted, found: &Catalog, cancel: &Cancel) -> bool {
        let (_, _, _) = (changed, found, cancel);
        false
    }
}

/// A catalog, and what is remembered about it.
pub(super) struct Loaded {
    pub(super) catalog: Arc<Catalog>,
    pub(super) by_tool: ByTool,
}

/// The catalog in use, which changes where a hook is renewed.
pub(super) struct Current {
    loaded: Mutex<Arc<Loaded>>,
    reload: Option<Arc<dyn Reload>>,
    /// Held while a hook is renewed: calls that run in parallel ask once.
    renewing: Mutex<()>,
}

impl Current {
    pub(super) fn new(catalog: Catalog) -> Self {
        let loaded = Mutex::new(loaded(catalog));
        Self { loaded, reload: None, renewing: Mutex::default() }
    }

    pub(super) fn reloading(self, reload: Arc<dyn Reload>) -> Self {
        Self { reload: Some(reload), ..self }
    }

    pub(super) fn get(&self) -> Arc<Loaded> {
        Arc::clone(&self.loaded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What runs in the place of `hook`, which changed since it was loaded: the same hook as it was trusted since. It is used
    /// from now on. Nothing else of the catalog is replaced: no hook goes away because another one changed.
    pub(super) fn renew(&self, hook: &Arc<Hook>, cancel: &Cancel) -> Option<Arc<Hook>> {
        let reload = self.reload.as_ref()?;
        let _one_at_a_time = self.renewing.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.get();
        if let Some(other) = renewed(&now.catalog, hook).filter(|other| !Arc::ptr_eq(other, hook)) {
            return Some(Arc::clone(other));
        }
        let mut found = reload.load(cancel);
        let is_same = |one: &&Untrusted| one.name == hook.name && one.path == hook.path;
        if let Some(changed) = found.untrusted().iter().find(is_same)
            && reload.ask(changed, &found, cancel)
        {
            found = reload.load(cancel);
        }
        let renewed = Arc::clone(renewed(&found, hook)?);
        let catalog = now.catalog.with_renewed(hook, &renewed);
        *self.loaded.lock().unwrap_or_else(PoisonError::into_inner) = loaded(catalog);
        Some(renewed)
    }
}

fn loaded(catalog: Catalog) -> Arc<Loaded> {
    Arc::new(Loaded { catalog: Arc::new(catalog), by_tool: ByTool::default() })
}

/// The hook of `catalog` that `hook` has become.
fn renewed<'c>(catalog: &'c Catalog, hook: &Hook) -> Option<&'c Arc<Hook>> {
    let is_same = |other: &&Arc<Hook>| {
        (&other.name, &other.path, other.layer) == (&hook.name, &hook.path, hook.layer)
    };
    catalog.hooks().iter().find(is_same)
}
