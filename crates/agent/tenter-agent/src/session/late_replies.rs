//! Delivers the replies of asynchronous hooks: text for the model, and recipes that run in their own thread while the
//! conversation continues. Both are added before a later turn and marked as late.
//!
//! The response of a late recipe never replaces the history, which has changed since the recipe was started.

use std::collections::BTreeMap;
use std::thread::{self, JoinHandle};

use tenter_engine::LateReply;
use tenter_proc::Cancel;
use tenter_protocol::{Block, Diagnostic, Message, Role, Severity};

use super::side_recipe::{RecipeCall, SideResult};
use super::{AgentError, Session};
use crate::store::Origin;
use crate::watch::SessionUpdate;

/// Maximum number of late recipes that run at the same time.
const MAX_LATE_RECIPES: usize = 4;

/// A recipe that an asynchronous hook called back.
pub(super) struct LateRecipe {
    hook: String,
    recipe: String,
    cancel: Cancel,
    thread: JoinHandle<SideResult>,
}

impl Session<'_> {
    /// Adds replies and finished recipes since the last call to the conversation.
    pub(super) fn deliver_late_replies(&mut self) -> Result<(), AgentError> {
        for late in self.hooks.take_late_replies() {
            self.deliver(late);
        }
        let (ends, running): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late_recipes)
            .into_iter()
            .partition(|run| run.thread.is_finished());
        self.late_recipes = running;
        for run in ends {
            self.finish_late_recipe(run);
        }
        self.save()
    }

    /// Cancels running recipes, and adds the last text from hooks for the next session. Callbacks that come too late are reported.
    pub(super) fn end_late_recipes(&mut self) -> Result<(), AgentError> {
        for run in &self.late_recipes {
            run.cancel.cancel();
        }
        for run in std::mem::take(&mut self.late_recipes) {
            self.finish_late_recipe(run);
        }
        for late in self.hooks.take_late_replies() {
            if let (Some(context), false) = (&late.context, self.conversation.messages().is_empty())
            {
                self.push_late_text(&late.hook, context);
            }
            if let Some((recipe, _)) = &late.callback {
                self.diagnose(&too_late(&late.hook, recipe));
            }
        }
        self.save()
    }

    fn deliver(&mut self, late: LateReply) {
        if let Some(context) = &late.context {
            self.push_late_text(&late.hook, context);
        }
        let Some((recipe, args)) = late.callback else { return };
        if self.is_callback_stopped(&recipe) {
            return;
        }
        if self.late_recipes.len() >= MAX_LATE_RECIPES {
            return self.diagnose(&too_many(&late.hook, &recipe));
        }
        match self.start_late_recipe(&late.hook, &recipe, &args) {
            Ok(run) => self.late_recipes.push(run),
            Err(reason) => self.report_late_failure(&late.hook, &recipe, &reason),
        }
    }

    fn report_late_failure(&mut self, hook: &str, recipe: &str, reason: &str) {
        let message = format!("the recipe {recipe}, called back late by {hook}: {reason}");
        self.callback_failed(recipe, &message, "the conversation continues without its answer");
    }

    fn start_late_recipe(
        &self,
        hook: &str,
        recipe: &str,
        args: &BTreeMap<String, String>,
    ) -> Result<LateRecipe, String> {
        let cancel = Cancel::new();
        let run = self.prepare_side_recipe(RecipeCall { recipe, args }, &cancel)?;
        self.notify(&SessionUpdate::Recipe { recipe, by: hook });
        let (hook, recipe) = (hook.to_owned(), recipe.to_owned());
        let thread = thread::Builder::new()
            .spawn(move || run.run())
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(LateRecipe { hook, recipe, cancel, thread })
    }

    fn finish_late_recipe(&mut self, run: LateRecipe) {
        let result = run.thread.join();
        self.notify(&SessionUpdate::RecipeEnded { recipe: &run.recipe });
        let Ok(answer) = result else {
            return self.report_late_failure(&run.hook, &run.recipe, "it panicked");
        };
        self.conversation.add_side_usage(answer.spent);
        match answer.text {
            Ok(text) => {
                self.set_callback_failures(&run.recipe, 0);
                self.push_late_text(&run.hook, &text);
            }
            Err(_) if run.cancel.is_cancelled() => self.diagnose(&too_late(&run.hook, &run.recipe)),
            Err(reason) => self.report_late_failure(&run.hook, &run.recipe, &reason),
        }
    }

    fn push_late_text(&mut self, hook: &str, text: &str) {
        let text = self.agent.settings.keys.text(text);
        let text = self.sections.section("hook", &[("name", hook), ("late", "true")], &text);
        let message = Message::new(Role::User, vec![Block::text(text)]);
        self.conversation.push(message, Origin::Hook(hook.to_owned()));
    }
}

fn too_many(hook: &str, recipe: &str) -> Diagnostic {
    let message = format!(
        "the recipe {recipe}, called back late by {hook}, was not run: {MAX_LATE_RECIPES} late recipes already run"
    );
    Diagnostic::new("callback-dropped", Severity::Warning, message)
}

fn too_late(hook: &str, recipe: &str) -> Diagnostic {
    let message = format!(
        "the recipe {recipe}, called back late by {hook}, had not finished when the session ended"
    );
    Diagnostic::new("callback-too-late", Severity::Warning, message)
}
