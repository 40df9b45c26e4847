//! A recipe in a chat: one message in a session of its own, restricted as the recipe says. The sessions after it have all tools
//! again.

use std::sync::Arc;

use tenter_agent::recipe::RecipeBook;
use tenter_agent::session::{Session, Status};
use tenter_agent::tools::Registry;
use tenter_engine::inspect::Catalog;
use tenter_protocol::event::ExitReason;
use tenter_terminal::Failure;

use super::{Chat, reload};
use crate::agent::BuiltAgent;

/// A recipe to run.
pub(super) struct RecipeTask {
    /// Its name.
    pub(super) name: String,
    /// Its text with the arguments filled in, and the user's message.
    pub(super) message: String,
    /// The tools that it may use.
    pub(super) tools: Registry,
    /// The recipes with what is trusted now.
    pub(super) book: RecipeBook,
}

impl Chat<'_> {
    /// Runs a recipe on the conversation `id`. Returns the conversation's id, which is new if nothing was stored before.
    pub(super) fn run_recipe(
        &mut self,
        agent: &mut BuiltAgent,
        task: RecipeTask,
        id: &str,
    ) -> Result<String, Failure> {
        let conversation = reload(agent, id)?;
        let id = conversation.id().to_owned();
        agent.agent.settings.recipes = task.book;
        let catalog = Catalog::clone(&agent.agent.engine.catalog());
        agent.change_hooks(&self.project, catalog, Arc::clone(&self.show) as _);
        let all_tools = std::mem::replace(&mut agent.agent.tools, task.tools);
        let earlier = agent.agent.settings.recipe.replace(task.name);
        // If a hook denies the session, that was shown, and the recipe does not run.
        if let Ok(mut session) = Session::start(&agent.agent, conversation, self.new_cancel()) {
            self.answer(&mut session, &task.message, task.message.as_str().into());
            session.end(Status::Done, ExitReason::UserExit);
        }
        agent.agent.tools = all_tools;
        agent.agent.settings.recipe = earlier;
        Ok(id)
    }
}
