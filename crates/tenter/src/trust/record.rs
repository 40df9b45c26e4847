//! What the trust store records besides hooks.

use std::path::{Path, PathBuf};

use tenter_agent::recipe::Recipe;
use tenter_engine::hook::Fingerprint;
use tenter_engine::trust::{TrustEntry, TrustStore, TrustedKind, trust_name};

/// Something that is trusted besides hooks: a recipe, a model, the source of a plugin.
pub(crate) struct TrustRecord {
    name: String,
    fingerprint: Fingerprint,
    path: PathBuf,
}

impl TrustRecord {
    /// A record of `name`; it holds as long as the fingerprint is the same. `path` is for the user to read.
    pub(crate) fn new(
        kind: TrustedKind,
        name: &str,
        fingerprint: Fingerprint,
        path: &Path,
    ) -> Self {
        Self { name: trust_name(kind, name), fingerprint, path: path.to_owned() }
    }

    /// A recipe as it was read.
    pub(crate) fn of_recipe(recipe: &Recipe) -> Self {
        let fingerprint = recipe.fingerprint().clone();
        Self::new(TrustedKind::Recipe, &recipe.name, fingerprint, &recipe.origin.path)
    }

    /// The name in the trust store, such as `recipe:review`. No hook has it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the store has this record for the project with this root.
    pub(crate) fn is_in(&self, store: &TrustStore, root: &Path) -> bool {
        store.of(root).is_trusted(&self.name, &self.fingerprint)
    }

    /// The record as the store takes it.
    pub(crate) fn entry(&self) -> TrustEntry {
        TrustEntry::new(&self.name, self.fingerprint.clone(), &self.path)
    }
}
