//! What every command that needs hooks does first: find the project, read the configuration, load the catalog.

use std::path::{Path, PathBuf};

use tenter_engine::Reload;
use tenter_engine::catalog::{Catalog, LoadRequest, PolicyTable, load};
use tenter_engine::environment::{Environment, HookEnvironment};
use tenter_engine::keys::KeyMask;
use tenter_engine::query::QUERY_TIMEOUT;
use tenter_engine::source::{Places, project_root};
use tenter_engine::trust::{TrustMode, TrustStore};
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

use crate::agent::models::KeyRing;
use crate::env::Env;
use crate::failure::Failure;
use crate::settings::Settings;

/// The project that a command works on, and what was found out about it.
pub(crate) struct Project<'e> {
    /// The process's surroundings.
    pub(crate) env: &'e Env,
    /// The configuration.
    pub(crate) settings: Settings,
    /// Where hooks are looked for.
    pub(crate) places: Places,
    /// What was trusted.
    pub(crate) trust: TrustStore,
    /// The keys of models that programs printed.
    pub(crate) keys: KeyRing,
    /// What was found in the configuration and the trust store.
    of_configuration: Vec<Diagnostic>,
    /// What was found when the catalog was last loaded.
    of_catalog: Vec<Diagnostic>,
}

impl<'e> Project<'e> {
    /// Opens the project at `explicit`, or the one that the working folder is in (R7).
    pub(crate) fn open(env: &'e Env, explicit: Option<&Path>) -> Result<Self, Failure> {
        let root = root(env, explicit)?;
        let (settings, mut of_configuration) = Settings::load(env, root.clone())?;
        let (trust, of_store) = trust_store(env);
        of_configuration.extend(of_store);
        let places = env.places(root);
        let keys = KeyRing::default();
        Ok(Self { env, settings, places, trust, keys, of_configuration, of_catalog: Vec::new() })
    }

    /// Reads again what was trusted, which may have changed in another terminal.
    pub(crate) fn read_trust_again(&mut self) -> Vec<Diagnostic> {
        let (trust, findings) = trust_store(self.env);
        self.trust = trust;
        findings
    }

    /// The project's root.
    pub(crate) fn root(&self) -> &Path {
        &self.settings.project
    }

    /// The environment of hooks: without models' keys, whatever the configuration calls them (R40).
    pub(crate) fn hook_environment(&self) -> HookEnvironment {
        let pass = &self.settings.pass_env;
        let keys = self.settings.models.key_variables();
        let keys: Vec<&str> = keys.filter(|key| pass.iter().all(|passed| passed != key)).collect();
        let state = self.env.state_dir().join("hooks");
        HookEnvironment::new(&self.env.vars, pass).withholding(&keys).with_state(state)
    }

    /// Loads this project's hooks again while an agent runs, as it was configured when it began.
    pub(crate) fn reloader(&self) -> Reloader {
        Reloader {
            places: self.places.clone(),
            trust: self.settings.trust,
            store: store_file(self.env),
            cache: cache_file(self.env),
            environment: self.hook_environment(),
            policies: self.settings.policies.clone(),
        }
    }

    /// The environment of the programs that Tenter starts for itself, such as git and an editor: what hooks get (R80).
    pub(crate) fn program_environment(&self) -> Environment {
        self.hook_environment().given().clone()
    }

    /// Masks in tool results the values of the keys that are withheld, and those that programs printed so far (R80).
    pub(crate) fn key_mask(&self) -> KeyMask {
        KeyMask::for_results(self.hook_environment().secrets().chain(self.keys.secrets()))
    }

    /// What must not reach a record: the values of every variable that holds a key, and what programs printed so far.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let keys: Vec<&str> = self.settings.models.key_variables().collect();
        let of_variables = HookEnvironment::new(&self.env.vars, &[]).withholding(&keys);
        of_variables.secrets().chain(self.keys.secrets()).collect()
    }

    /// Everything that was found, of the catalog as it was last loaded.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.of_configuration.iter().chain(&self.of_catalog)
    }

    /// Loads the catalog.
    pub(crate) fn load(&mut self, cancel: &Cancel) -> Catalog {
        let environment = self.hook_environment();
        let cache = cache_file(self.env);
        let (catalog, findings) = load(&LoadRequest {
            places: &self.places,
            trust: self.settings.trust,
            store: &self.trust,
            cache: Some(&cache),
            environment: &environment,
            policies: &self.settings.policies,
            query_timeout: QUERY_TIMEOUT,
            cancel,
        });
        self.of_catalog = findings;
        catalog
    }
}

fn trust_store(env: &Env) -> (TrustStore, Vec<Diagnostic>) {
    TrustStore::open(store_file(env))
}

fn store_file(env: &Env) -> PathBuf {
    env.state_dir().join("trust.json")
}

fn cache_file(env: &Env) -> PathBuf {
    env.cache_dir().join("hooks.json")
}

/// Loads the hooks of a project again, under what is trusted by then and the configuration of when it was made.
pub(crate) struct Reloader {
    places: Places,
    trust: TrustMode,
    store: PathBuf,
    cache: PathBuf,
    environment: HookEnvironment,
    policies: PolicyTable,
}

impl Reload for Reloader {
    fn load(&self, cancel: &Cancel) -> Catalog {
        let request = LoadRequest {
            places: &self.places,
            trust: self.trust,
            store: &TrustStore::open(self.store.clone()).0,
            cache: Some(&self.cache),
            environment: &self.environment,
            policies: &self.policies,
            query_timeout: QUERY_TIMEOUT,
            cancel,
        };
        load(&request).0
    }
}

/// The root of the project at `explicit`, or of the one that the working folder is in (R7).
pub(crate) fn root(env: &Env, explicit: Option<&Path>) -> Result<PathBuf, Failure> {
    match explicit {
        Some(folder) => real_folder(&env.cwd.join(folder)),
        None => Ok(project_root(&env.cwd, &env.home)),
    }
}

fn real_folder(path: &Path) -> Result<PathBuf, Failure> {
    let real = path
        .canonicalize()
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(Failure::usage(format!("{} is not a folder", path.display())))
    }
}
