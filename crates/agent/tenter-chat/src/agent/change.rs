//! Changes an agent between two sessions of a chat: another model, or newly trusted hooks, recipes and MCP servers. Store
//! and permissions stay.

use std::sync::Arc;

use tenter_agent::Model;
use tenter_commands::project::Project;
use tenter_engine::inspect::Catalog;
use tenter_engine::journal::Seals;
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{Failure, now, ui};

use super::build::{BuiltAgent, engine, journal, servers, tools};
use super::{AgentArgs, models, recipes, skills};
use crate::render::Show;

/// Connects to the model of this name, with the settings of flags and configuration. `cancel` ends the waiting.
pub(crate) fn model_named(
    project: &Project,
    args: &AgentArgs,
    name: &str,
    cancel: &Cancel,
) -> Result<models::ConnectedModel, Failure> {
    let args = AgentArgs { model: Some(name.to_owned()), use_weak_model: false, ..args.clone() };
    models::choose(project, &args, None, cancel)
}

impl BuiltAgent {
    /// Replaces the model.
    pub(crate) fn change_model(
        &mut self,
        project: &Project,
        model: Arc<dyn Model>,
        show: Arc<dyn Show>,
    ) {
        self.agent.model = model;
        self.agent.settings.keys = project.key_mask();
        // A program may have printed a key for it, which must not reach the journal.
        let catalog = Catalog::clone(&self.agent.engine.catalog());
        self.change_hooks(project, catalog, show);
    }

    /// Makes the agent use what is trusted now: these hooks, and the project's recipes.
    pub(crate) fn change_trust(
        &mut self,
        project: &Project,
        args: &AgentArgs,
        catalog: Catalog,
        show: Arc<dyn Show>,
    ) {
        self.agent.settings.recipes = recipes::book(project, &args.fragment_dirs);
        self.change_hooks(project, catalog, show);
    }

    /// Makes the agent use the MCP servers that are trusted now. Those that run are started again. Returns what went wrong.
    ///
    /// # Errors
    /// A restriction of tools names one that does not exist.
    pub(crate) fn change_servers(
        &mut self,
        project: &Project,
        args: &AgentArgs,
    ) -> Result<Vec<Diagnostic>, Failure> {
        let mut findings = Vec::new();
        let (skills, _) = skills::offered(project, args);
        let servers = servers(project, args, &mut findings);
        self.agent.tools = tools(args, skills, servers)?;
        Ok(findings)
    }

    /// Replaces the hooks.
    pub(crate) fn change_hooks(
        &mut self,
        project: &Project,
        catalog: Catalog,
        show: Arc<dyn Show>,
    ) {
        self.report_journal_error();
        self.journal = journal(project);
        let builder = project.engine_builder().added_directories(self.added_directories.clone());
        let recipes = &self.agent.settings.recipes;
        self.agent.engine = engine((project, builder), catalog, &self.journal, show, recipes);
    }

    /// Seals the journals at the end of the agent, and deletes those that are older or larger than they may be (M5, M6).
    pub(crate) fn close_journal(&self, project: &Project) {
        self.report_journal_error();
        let seals = Seals::from_directory(&project.env.journal_dir());
        let result = seals.seal(None, now());
        let retention = project.settings.hooks.retention;
        if let Err(error) = result.and_then(|_| seals.prune(retention, now())) {
            let message = format!("the journals could not be sealed: {error}");
            ui::diagnostic(&Diagnostic::new("journal-not-sealed", Severity::Warning, message));
        }
    }

    /// Reports why the journal could not be written, if it could not.
    pub(crate) fn report_journal_error(&self) {
        if let Some(error) = self.journal.take_trouble() {
            ui::diagnostic(&error);
        }
    }
}
