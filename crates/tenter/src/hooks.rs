//! What every command that needs hooks does first: find the project, read the configuration, load the catalog.

use std::path::{Path, PathBuf};

use tenter_engine::catalog::{Catalog, LoadRequest, load};
use tenter_engine::environment;
use tenter_engine::query::QUERY_TIMEOUT;
use tenter_engine::source::{Places, project_root};
use tenter_engine::trust::TrustStore;
use tenter_proc::Cancel;
use tenter_protocol::Diagnostic;

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
    /// Findings so far.
    pub(crate) findings: Vec<Diagnostic>,
}

impl<'e> Project<'e> {
    /// Opens the project at `explicit`, or the one that the working folder is in (R7).
    pub(crate) fn open(env: &'e Env, explicit: Option<&Path>) -> Result<Self, Failure> {
        let root = match explicit {
            Some(folder) => real_folder(&env.cwd.join(folder))?,
            None => project_root(&env.cwd, &env.home),
        };
        let (settings, mut findings) = Settings::load(env, root.clone())?;
        let (trust, of_store) = TrustStore::open(env.state_dir().join("trust.json"));
        findings.extend(of_store);
        Ok(Self { env, places: env.places(root), settings, trust, findings })
    }

    /// The project's root.
    pub(crate) fn root(&self) -> &Path {
        &self.settings.project
    }

    /// The environment of hooks.
    pub(crate) fn hook_environment(&self) -> environment::Environment {
        environment::for_hooks(&self.env.vars, &self.settings.pass_env)
    }

    /// Loads the catalog; findings are added to those there are.
    pub(crate) fn load(&mut self, cancel: &Cancel) -> Catalog {
        let environment = self.hook_environment();
        let cache = self.env.cache_dir().join("hooks.json");
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
        self.findings.extend(findings);
        catalog
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
