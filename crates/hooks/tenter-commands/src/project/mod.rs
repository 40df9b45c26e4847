//! The project that a command works on: finds its root, reads the configuration and the trust store, loads its hooks.

mod key_ring;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tenter_base::{AgentState, Containment};
use tenter_engine::inspect::{Catalog, Environment, HookEnvironment, KeyMask, OuterProjects};
use tenter_engine::layout::{DirectoryNames, ResourceLayout, project_root};
use tenter_engine::trust::TrustStore;
use tenter_engine::{Engine, EngineBuilder};
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;
use tenter_settings::Settings;
use tenter_terminal::question::SharedReadLine;
use tenter_terminal::{Env, Failure, now};

use crate::bound;

pub use key_ring::KeyRing;

/// The project that a command works on.
pub struct Project<'e> {
    /// The environment of the process.
    pub env: &'e Env,
    /// The configuration.
    pub settings: Settings,
    /// The directories that hooks are loaded from.
    pub layout: ResourceLayout,
    /// The trust store.
    pub trust: TrustStore,
    /// Keys that programs printed.
    pub keys: KeyRing,
    /// Reads the user's answers while an agent runs; unset where the terminal itself is read.
    pub read_line: Arc<OnceLock<SharedReadLine>>,
    /// Diagnostics of the configuration and the trust store.
    configuration_diagnostics: Vec<Diagnostic>,
    /// Diagnostics of the catalog as it was last loaded.
    catalog_diagnostics: Vec<Diagnostic>,
}

impl<'e> Project<'e> {
    /// Opens the project at `explicit`, or the one of the working directory (R89).
    pub fn open(env: &'e Env, explicit: Option<&Path>) -> Result<Self, Failure> {
        let root = root(env, explicit)?;
        let (trust, store_diagnostics) = trust_store(env);
        let outer = outer_projects(env, &root, &trust).roots;
        let (settings, mut configuration_diagnostics) = Settings::load(env, root.clone(), &outer)?;
        configuration_diagnostics.extend(store_diagnostics);
        let layout = env.layout(root).with_outer(outer);
        let keys = KeyRing::default();
        let (read_line, catalog_diagnostics) = (Arc::default(), Vec::new());
        Ok(Self {
            env,
            settings,
            layout,
            trust,
            keys,
            read_line,
            configuration_diagnostics,
            catalog_diagnostics,
        })
    }

    /// Returns the projects around it whose hooks run in it, too (R89).
    pub fn outer(&self) -> OuterProjects {
        outer_projects(self.env, self.root(), &self.trust)
    }

    /// Reads the trust store again, which may have changed in another terminal. Returns its diagnostics.
    pub fn read_trust_again(&mut self) -> Vec<Diagnostic> {
        let (trust, findings) = trust_store(self.env);
        self.trust = trust;
        findings
    }

    /// Returns the project's root.
    pub fn root(&self) -> &Path {
        &self.settings.project
    }

    /// Returns the environment of hooks: without model keys, including those that the configuration names (R40).
    pub fn hook_environment(&self) -> HookEnvironment {
        let pass = &self.settings.hooks.pass_env;
        let keys = self.settings.models.key_variables();
        let keys: Vec<&str> = keys.filter(|key| pass.iter().all(|name| name != key)).collect();
        HookEnvironment::new(&self.env.vars, pass).withholding(&keys)
    }

    /// Builds engines for this project, and finds its hooks, as the configuration says.
    pub fn engine_builder(&self) -> EngineBuilder {
        self.engine_builder_at(self.root())
    }

    /// Builds engines for another project, with the configuration of this one.
    pub fn engine_builder_at(&self, root: &Path) -> EngineBuilder {
        Engine::builder(root)
            .directories(self.env.directories())
            .environment(self.hook_environment())
            .clock(now)
            .trust(self.settings.hooks.trust)
            .policies(self.settings.hooks.policies.clone())
            .confine(self.settings.hooks.confine.clone())
            .http_client(Env::program())
            .launcher(Env::launcher())
            .report_changes(self.settings.hooks.reports_changes)
            .agent_states(self.agent_states())
            .trampoline(bound::trampoline())
    }

    /// Returns the special states of this process.
    fn agent_states(&self) -> Vec<AgentState> {
        AgentState::read_process(&Containment {
            setting: self.settings.hooks.container,
            variables: &self.env.vars,
            own: &[&self.env.home, self.root()],
        })
    }

    /// Returns the environment of programs that Tenter starts for itself, such as git and an editor: the environment of hooks
    /// (R80).
    pub fn program_environment(&self) -> Environment {
        self.hook_environment().base().clone()
    }

    /// Masks withheld keys in tool results, and keys that programs printed so far (R80).
    pub fn key_mask(&self) -> KeyMask {
        KeyMask::for_results(self.hook_environment().secrets().chain(self.keys.secrets()))
    }

    /// Returns the secrets that must not reach a record: values of variables that hold keys, and keys that programs printed so
    /// far.
    pub fn secrets(&self) -> Vec<String> {
        let keys: Vec<&str> = self.settings.models.key_variables().collect();
        let variables = HookEnvironment::new(&self.env.vars, &[]).withholding(&keys);
        variables.secrets().chain(self.keys.secrets()).collect()
    }

    /// Returns the context of a question about trust.
    pub fn trust_context(&self) -> TrustContext<'_> {
        TrustContext { root: self.root(), store: &self.trust, project: Some(self) }
    }

    /// Returns the diagnostics of the configuration, the trust store, and the catalog as it was last loaded.
    pub fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.configuration_diagnostics.iter().chain(&self.catalog_diagnostics)
    }

    /// Loads the catalog, and keeps its diagnostics.
    pub fn load(&mut self, cancel: &Cancel) -> Catalog {
        let (catalog, findings) =
            self.engine_builder().cancel(cancel.clone()).load_catalog(&self.trust);
        self.catalog_diagnostics = findings;
        catalog
    }
}

fn outer_projects(env: &Env, root: &Path, store: &TrustStore) -> OuterProjects {
    OuterProjects::find(&DirectoryNames::default(), (root, &env.home), || store.clone())
}

fn trust_store(env: &Env) -> (TrustStore, Vec<Diagnostic>) {
    TrustStore::open(env.directories().trust_file())
}

/// A project and the trust store.
#[derive(Clone, Copy)]
pub struct TrustContext<'p> {
    /// The project's root.
    pub root: &'p Path,
    /// The trust store.
    pub store: &'p TrustStore,
    /// The project, to show long texts in the user's pager; `None` to print them.
    pub project: Option<&'p Project<'p>>,
}

/// Returns the root of the project at `explicit`, or of the project of the working directory (R89).
pub fn root(env: &Env, explicit: Option<&Path>) -> Result<PathBuf, Failure> {
    match explicit {
        Some(directory) => real_directory(&env.cwd.join(directory)),
        None => Ok(project_root(&env.cwd, &env.home)),
    }
}

fn real_directory(path: &Path) -> Result<PathBuf, Failure> {
    let real = path
        .canonicalize()
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(Failure::usage(format!("{} is not a directory", path.display())))
    }
}
