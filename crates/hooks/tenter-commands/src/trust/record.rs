//! Records in the trust store besides hooks.

use std::path::{Path, PathBuf};

use tenter_engine::Fingerprint;
use tenter_engine::trust::{TrustEntry, TrustStore, TrustedKind, trust_name};
use tenter_protocol::confinement::Confinement;

/// A recipe of the project, as far as trust in it is concerned.
#[derive(Debug, Clone)]
pub struct ProjectRecipe {
    /// The recipe's name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The fingerprint of the file.
    pub fingerprint: Fingerprint,
    /// The command lines of the programs that it starts.
    pub programs: Vec<String>,
    /// The confinements of these programs.
    pub confinements: Vec<Confinement>,
}

/// Something that is trusted besides hooks: a recipe, a model, the source of a plugin.
pub struct TrustRecord {
    name: String,
    fingerprint: Fingerprint,
    path: PathBuf,
}

impl TrustRecord {
    /// Creates a record of `name`; it holds as long as the fingerprint is the same. `path` is for the user to read.
    pub fn new(kind: TrustedKind, name: &str, fingerprint: Fingerprint, path: &Path) -> Self {
        Self { name: trust_name(kind, name), fingerprint, path: path.to_owned() }
    }

    /// Returns a recipe as it was read.
    pub fn from_recipe(recipe: &ProjectRecipe) -> Self {
        let fingerprint = recipe.fingerprint.clone();
        Self::new(TrustedKind::Recipe, &recipe.name, fingerprint, &recipe.path)
    }

    /// Returns the name in the trust store, such as `recipe:review`. No hook has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks whether the store has this record for the project with this root.
    pub fn is_in(&self, store: &TrustStore, root: &Path) -> bool {
        store.project(root).is_trusted(&self.name, &self.fingerprint)
    }

    /// Returns the record as the store takes it.
    pub fn entry(&self) -> TrustEntry {
        TrustEntry::new(&self.name, self.fingerprint.clone(), &self.path)
    }
}
