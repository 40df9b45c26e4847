//! Reloads a project's hooks while an agent runs, and asks about those that changed (R75).

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tenter_base::visible;
use tenter_engine::EngineBuilder;
use tenter_engine::inspect::{Catalog, Reload, Untrusted};
use tenter_engine::trust::TrustStore;
use tenter_proc::Cancel;
use tenter_terminal::question::{SharedReadLine, read_at_terminal};
use tenter_terminal::{Env, Failure, ui};

use super::ask::{PendingTrust, ask_through};
use super::store::{accept_in, record_hooks_in};
use crate::project::{Project, TrustContext};

/// Reloads hooks with the trust store as it is by then and the configuration as it was when the agent started.
pub struct Reloader {
    project: PathBuf,
    builder: EngineBuilder,
    read_line: Arc<OnceLock<SharedReadLine>>,
}

impl Reloader {
    /// Creates a reloader for this project's hooks.
    pub fn new(project: &Project) -> Self {
        Self {
            project: project.root().to_owned(),
            builder: project.engine_builder(),
            read_line: Arc::clone(&project.read_line),
        }
    }

    fn store(&self) -> TrustStore {
        self.builder.trust_store().0
    }

    fn read_line(&self, prompt: &str) -> Option<String> {
        self.read_line.get().map_or_else(|| read_at_terminal(prompt), |read| read(prompt))
    }

    /// Trusts these hooks as they are now, and accepts the state of the project with them.
    fn trust(
        &self,
        store: &mut TrustStore,
        hooks: &[Untrusted],
        cancel: &Cancel,
    ) -> Result<(), Failure> {
        record_hooks_in(store, hooks)?;
        let now = self.load(cancel);
        if now.lost().is_empty() { accept_in(store, &now) } else { Ok(()) }
    }
}

impl Reload for Reloader {
    fn load(&self, cancel: &Cancel) -> Catalog {
        self.builder.clone().cancel(cancel.clone()).load_catalog(&self.store()).0
    }

    fn ask(&self, hook: &Untrusted, catalog: &Catalog, cancel: &Cancel) -> bool {
        if !Env::can_ask() {
            return false;
        }
        // Hooks that were never trusted were asked about at the start.
        let is_asked = |other: &&Untrusted| other.previous.is_some() || other.path == hook.path;
        let hooks: Vec<Untrusted> = catalog.untrusted().iter().filter(is_asked).cloned().collect();
        let mut store = self.store();
        let context = TrustContext { root: &self.project, store: &store, project: None };
        let pending = PendingTrust { hooks: &hooks, recipes: &[] };
        ui::note(format!(
            "\nThe hook {} changed while the agent was running.",
            visible(&hook.name)
        ));
        let choice = ask_through(context, pending, &mut |prompt| self.read_line(prompt));
        let (contents, _) = choice.trusted(pending);
        if contents.is_empty() {
            return false;
        }
        let is_included = contents.iter().any(|other| other.path == hook.path);
        let result = self.trust(&mut store, &contents, cancel).inspect_err(ui::failure);
        result.is_ok() && is_included
    }
}
