//! Changes what an agent is made of, between two sessions: `chat` goes on with another model or with more of the project trusted. What is
//! not about that stays: the tools, the store, what was allowed.

use std::sync::Arc;

use tenter_agent::Model;
use tenter_engine::catalog::Catalog;
use tenter_proc::Cancel;

use super::build::{Built, engine, journal};
use super::{AgentArgs, models, recipes};
use crate::failure::Failure;
use crate::project::Project;
use crate::render::Show;
use crate::ui;

/// The model of this name, set up as the flags and the configuration say. `cancel` ends whatever is waited for.
pub(crate) fn model_named(
    project: &Project,
    args: &AgentArgs,
    name: &str,
    cancel: &Cancel,
) -> Result<models::Chosen, Failure> {
    let args = AgentArgs { model: Some(name.to_owned()), use_weak_model: false, ..args.clone() };
    models::choose(project, &args, None, cancel)
}

impl Built {
    /// Puts another model in the place of the present one.
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

    /// Has the agent use what is trusted now: these hooks, and the project's recipes.
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

    /// Puts other hooks in the place of the present ones.
    fn change_hooks(&mut self, project: &Project, catalog: Catalog, show: Arc<dyn Show>) {
        self.tell_trouble();
        self.journal = journal(project);
        self.agent.engine =
            engine(project, catalog, &self.journal, show, &self.agent.settings.recipes);
    }

    /// Says what kept the journal from being written, if anything did.
    pub(crate) fn tell_trouble(&self) {
        if let Some(trouble) = self.journal.take_trouble() {
            ui::diagnostic(&trouble);
        }
    }
}
