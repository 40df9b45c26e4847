//! A side recipe: a separate agent that works on the conversation as text (R33).
//!
//! It has the tools that the recipe allows, and no hooks, no compaction, no store and no user to ask. It cannot start another side
//! recipe. Its usage counts for the conversation; its response is returned to the caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Message, Scope, Severity};

use super::{Agent, AgentError, AgentSettings, Finish, Session, Status, UserMessage};
use crate::conversation::{Conversation, Spent};
use crate::permission::{FixedAnswer, PermissionAnswer};
use crate::recipe::{self, Recipe, in_words};
use crate::store::Store;
use crate::tools::Registry;
use crate::transcript::transcript;
use crate::watch::{SessionUpdate, Watcher};

/// Maximum number of model responses of a side recipe.
const MAX_TURNS: u64 = 30;

/// A recipe to run, with its arguments.
#[derive(Clone, Copy)]
pub(super) struct RecipeCall<'w> {
    /// The recipe's name.
    pub(super) recipe: &'w str,
    /// The recipe's arguments.
    pub(super) args: &'w BTreeMap<String, String>,
}

/// A side recipe that is ready to run, independently of the session.
pub(super) struct SideRecipe {
    agent: Agent,
    recipe: Recipe,
    args: BTreeMap<String, String>,
    input: SideInput,
    cancel: Cancel,
}

/// The input of a side recipe.
struct SideInput {
    conversation_id: String,
    messages: Arc<Vec<Message>>,
    contexts: Vec<String>,
    /// Maximum number of bytes of the prompt.
    budget: usize,
}

/// The result of a side recipe.
pub(super) struct SideResult {
    /// The response, or why there is none.
    pub(super) text: Result<String, String>,
    /// Tokens and cost.
    pub(super) spent: Spent,
}

impl Session<'_> {
    /// Prepares a side recipe; `cancel` stops it.
    ///
    /// # Errors
    /// The recipe cannot run.
    pub(super) fn prepare_side_recipe(
        &self,
        call: RecipeCall,
        cancel: &Cancel,
    ) -> Result<SideRecipe, String> {
        let settings = &self.agent.settings;
        if settings.is_side_recipe {
            return Err("a side recipe cannot start another one".to_owned());
        }
        let recipe = settings.recipes.startable(call.recipe, call.args)?;
        if settings.recipes.needs_trust(&recipe) {
            self.report_untrusted(&recipe);
        }
        // A quarter of the window is left for the response, the tools and errors of the estimate.
        let window = self.agent.model.context_window() / 4 * 3;
        let budget = window.saturating_mul(self.conversation.bytes_per_token());
        let input = SideInput {
            conversation_id: self.conversation.id().to_owned(),
            messages: self.conversation.messages(),
            contexts: Vec::new(),
            budget: usize::try_from(budget).unwrap_or(usize::MAX),
        };
        let agent = self.side_agent(&recipe)?;
        let (args, cancel) = (call.args.clone(), cancel.clone());
        Ok(SideRecipe { agent, recipe, args, input, cancel })
    }

    fn report_untrusted(&self, recipe: &Recipe) {
        let message = format!(
            "the recipe {} comes with the project and is not trusted: its programs are not started, and it gets no tools",
            recipe.name
        );
        let finding = Diagnostic::new("recipe-untrusted", Severity::Warning, message);
        let help = "review it, then trust it with `tenter trust`";
        self.diagnose_once(&finding.at(&recipe.origin.path).help(help));
    }

    fn side_agent(&self, recipe: &Recipe) -> Result<Agent, String> {
        let settings = &self.agent.settings;
        let tools = recipe.restrict(self.agent.tools.clone()).map_err(|error| error.to_string())?;
        // No hooks check the calls of a side recipe, so an untrusted one gets no tools.
        let tools = if settings.recipes.is_untrusted(recipe) { Registry::default() } else { tools };
        Ok(Agent {
            model: Arc::clone(&self.agent.model),
            weak_model: None,
            engine: self.agent.engine.without_hooks(),
            tools,
            workspace: Arc::new(self.agent.workspace.for_another_conversation()),
            store: Store::in_memory().map_err(|error| error.to_string())?,
            watcher: Arc::new(SideWatcher(Arc::clone(&self.agent.watcher), self.hooks.scope())),
            asker: Arc::new(FixedAnswer(PermissionAnswer::Unattended { allowed: false })),
            permissions: self.agent.permissions.for_another_conversation(),
            snapshots: self.agent.snapshots.clone(),
            settings: AgentSettings {
                max_turns: Some(MAX_TURNS),
                auto_compact: None,
                recipe: Some(recipe.name.clone()),
                is_side_recipe: true,
                ..settings.clone()
            },
        })
    }
}

impl SideRecipe {
    /// Adds text from hooks to the prompt.
    pub(super) fn with_contexts(mut self, contexts: Vec<String>) -> Self {
        self.input.contexts = contexts;
        self
    }

    /// Runs the recipe.
    pub(super) fn run(self) -> SideResult {
        let id = self.input.conversation_id.clone();
        let (project, model) = (self.agent.engine.project(), self.agent.model.name());
        let conversation = Conversation::new(id, None, project, model);
        let mut session = Session::new(&self.agent, conversation, self.cancel.clone());
        let text = self.prompt(&session).and_then(|prompt| {
            let message = UserMessage::from(prompt.as_str());
            answer(session.send(&message))
        });
        SideResult { text, spent: Spent::total(session.usage()) }
    }

    /// Returns the prompt: the conversation, the recipe's text and the text from hooks, cut to fit the model.
    fn prompt(&self, session: &Session) -> Result<String, String> {
        let shell = self.agent.settings.recipes.shell(&self.recipe, &self.cancel);
        let rendering = recipe::render(&self.recipe, &self.args, shell.as_ref());
        let result = rendering.map_err(|errors| in_words(&errors))?;
        for warning in &result.warnings {
            session.diagnose(warning);
        }
        let contexts = self.input.contexts.iter().map(String::as_str);
        let text = self.agent.settings.keys.text(&result.text);
        let task = std::iter::once(text.as_ref()).chain(contexts).collect::<Vec<_>>();
        let task = task.join("\n\n");
        let budget = self.input.budget.saturating_sub(task.len());
        let talk = transcript(&self.input.messages, budget);
        Ok(format!("<conversation>\n{talk}\n</conversation>\n\n{task}"))
    }
}

fn answer(finish: Finish) -> Result<String, String> {
    match finish.status {
        Status::Done if finish.response.trim().is_empty() => {
            Err("its response is empty".to_owned())
        }
        Status::Done => Ok(finish.response),
        Status::MaxTurns => Err(format!("it did not finish within {MAX_TURNS} turns")),
        Status::Interrupted => Err("it was interrupted".to_owned()),
        Status::Blocked | Status::Failed => {
            Err(finish.error.as_ref().map_or("it failed".to_owned(), AgentError::to_string))
        }
    }
}

/// Passes on only retries and diagnostics: the text of a side recipe is not part of the conversation.
struct SideWatcher(Arc<dyn Watcher>, Scope);

impl Watcher for SideWatcher {
    fn on_update(&self, _scope: &Scope, update: &SessionUpdate) {
        if matches!(update, SessionUpdate::Retry { .. } | SessionUpdate::Diagnostic(_)) {
            self.0.on_update(&self.1, update);
        }
    }
}

/// Returns the history after compaction: the summary, and the user's last request verbatim.
pub(super) fn summarised_history(summary: &str, last_request: Option<&Message>) -> Vec<Message> {
    let about = if last_request.is_some() {
        "The conversation up to here was replaced by this summary of it. The last request follows word for word; what \
         the summary says is done of it is done."
    } else {
        "The conversation up to here was replaced by this summary of it."
    };
    let summary = Message::user(format!("<summary>\n{}\n</summary>\n\n{about}", summary.trim()));
    std::iter::once(summary).chain(last_request.cloned()).collect()
}
