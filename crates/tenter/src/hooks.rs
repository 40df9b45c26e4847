//! What every command that needs hooks does first: find the project, read the configuration, load the catalog.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tenter_base::rfc3339;
use tenter_engine::Reload;
use tenter_engine::catalog::{Catalog, LoadRequest, PolicyTable, Untrusted, load};
use tenter_engine::environment::{Environment, HookEnvironment};
use tenter_engine::keys::KeyMask;
use tenter_engine::query::QUERY_TIMEOUT;
use tenter_engine::source::{Places, project_root};
use tenter_engine::trust::{TrustEntry, TrustError, TrustMode, TrustStore};
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

use crate::agent::models::KeyRing;
use crate::commands::trust::{self, Choice, Waiting, read_at_terminal};
use crate::env::{self, Env};
use crate::failure::Failure;
use crate::sanitize::visible;
use crate::settings::Settings;
use crate::ui;

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
    /// What questions are asked through while an agent runs, where that is not the terminal itself.
    pub(crate) reader: Arc<OnceLock<Reader>>,
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
        let (reader, of_catalog) = (Arc::default(), Vec::new());
        Ok(Self { env, settings, places, trust, keys, reader, of_configuration, of_catalog })
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
            reader: Arc::clone(&self.reader),
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

    /// What a question about trust is about.
    pub(crate) fn trusting(&self) -> Trusting<'_> {
        Trusting { root: self.root(), store: &self.trust }
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

/// A project, and what was trusted.
#[derive(Clone, Copy)]
pub(crate) struct Trusting<'p> {
    /// The project's root.
    pub(crate) root: &'p Path,
    /// What was trusted.
    pub(crate) store: &'p TrustStore,
}

/// Shows a prompt and returns the line that the user types; none where nobody can be asked.
pub(crate) type Reader = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Loads the hooks of a project again, under what is trusted by then and the configuration of when it was made.
pub(crate) struct Reloader {
    places: Places,
    trust: TrustMode,
    store: PathBuf,
    cache: PathBuf,
    environment: HookEnvironment,
    policies: PolicyTable,
    reader: Arc<OnceLock<Reader>>,
}

impl Reloader {
    fn read(&self, prompt: &str) -> Option<String> {
        self.reader.get().map_or_else(|| read_at_terminal(prompt), |read| read(prompt))
    }

    /// Trusts these hooks as they are now, and the state of the project with them.
    fn trust(
        &self,
        store: &mut TrustStore,
        hooks: &[Untrusted],
        cancel: &Cancel,
    ) -> Result<(), TrustError> {
        let project = &self.places.project;
        let entries: Vec<TrustEntry> = hooks.iter().map(TrustEntry::from).collect();
        store.trust(project, &entries, &rfc3339(env::now()))?;
        let now = self.load(cancel);
        if now.lost().is_empty() { store.accept(project, now.state()) } else { Ok(()) }
    }
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

    fn ask(&self, changed: &Untrusted, found: &Catalog, cancel: &Cancel) -> bool {
        if !Env::can_ask() {
            return false;
        }
        // Hooks that were never trusted were asked about at the start.
        let is_asked = |hook: &&Untrusted| hook.previous.is_some() || hook.path == changed.path;
        let hooks: Vec<Untrusted> = found.untrusted().iter().filter(is_asked).cloned().collect();
        let (mut store, _) = TrustStore::open(self.store.clone());
        let trusting = Trusting { root: &self.places.project, store: &store };
        let waiting = Waiting { hooks: &hooks, recipes: &[] };
        let name = visible(&changed.name);
        ui::note(format!("\nThe hook {name} changed while the agent runs."));
        let choice = trust::ask_through(trusting, waiting, &mut |prompt| self.read(prompt));
        if choice != Choice::Trust {
            return false;
        }
        let trusted = self.trust(&mut store, &hooks, cancel);
        trusted.inspect_err(|error| ui::failure(&Failure::new(error.to_string()))).is_ok()
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
