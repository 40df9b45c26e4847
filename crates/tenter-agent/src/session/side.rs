//! A recipe beside the conversation: an agent of its own, in a fresh thread, works on the conversation as text (R33).
//!
//! It has the tools that the recipe allows it, no hooks, no compaction, no store and no user to ask. It cannot start another.
//! Its usage counts for the conversation; its answer is for the caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Message, Scope, Severity};

use super::{Agent, AgentError, AgentSettings, Finish, Session, Status, UserMessage};
use crate::conversation::{Conversation, Spent};
use crate::permission::{FixedAnswer, PermissionAnswer, Permissions};
use crate::recipe::{self, Recipe, in_words};
use crate::store::Store;
use crate::tools::Registry;
use crate::transcript::transcript;
use crate::watch::{Happening, Watcher};

/// Model responses of a side run at most: it is to come to an end on its own.
const MAX_TURNS: u64 = 30;

/// A recipe that is asked for.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// Its name.
    pub(super) recipe: &'w str,
    /// Its arguments.
    pub(super) args: &'w BTreeMap<String, String>,
}

/// A side run that is ready to start; nothing ties it to the session that made it.
pub(super) struct SideRun {
    agent: Agent,
    recipe: Recipe,
    args: BTreeMap<String, String>,
    material: Material,
    cancel: Cancel,
}

/// What a side run works on.
struct Material {
    conversation_id: String,
    messages: Arc<Vec<Message>>,
    contexts: Vec<String>,
    /// Bytes of the whole prompt at most.
    budget: usize,
}

/// What came of a side run.
pub(super) struct SideAnswer {
    /// What it said, or why it said nothing.
    pub(super) said: Result<String, String>,
    /// What it cost.
    pub(super) spent: Spent,
}

impl Session<'_> {
    /// Prepares a recipe for a run beside this conversation, which ends with `cancel`.
    ///
    /// # Errors
    /// Why there is nothing to run.
    pub(super) fn side_run(&self, wanted: Wanted, cancel: &Cancel) -> Result<SideRun, String> {
        let settings = &self.agent.settings;
        if settings.side_run {
            return Err("a recipe beside a conversation cannot start another".to_owned());
        }
        let recipe = settings.recipes.startable(wanted.recipe, wanted.args)?;
        if settings.recipes.needs_trust(&recipe) {
            self.tell_untrusted(&recipe);
        }
        // A quarter of the window is for the answer, for the tools and for what was estimated badly.
        let window = self.agent.model.context_window() / 4 * 3;
        let budget = window.saturating_mul(self.conversation.bytes_per_token());
        let material = Material {
            conversation_id: self.conversation.id().to_owned(),
            messages: self.conversation.messages(),
            contexts: Vec::new(),
            budget: usize::try_from(budget).unwrap_or(usize::MAX),
        };
        let agent = self.side_agent(&recipe)?;
        let (args, cancel) = (wanted.args.clone(), cancel.clone());
        Ok(SideRun { agent, recipe, args, material, cancel })
    }

    fn tell_untrusted(&self, recipe: &Recipe) {
        let message = format!(
            "the recipe {} comes with the project and is not trusted: none of its programs is started, and it gets no tools",
            recipe.name
        );
        let finding = Diagnostic::new("recipe-untrusted", Severity::Warning, message);
        let help = "look at it, and let it have them with `tenter trust`";
        self.diagnose_once(&finding.at(&recipe.origin.path).help(help));
    }

    fn side_agent(&self, recipe: &Recipe) -> Result<Agent, String> {
        let settings = &self.agent.settings;
        let tools = recipe.restrict(self.agent.tools.clone()).map_err(|error| error.to_string())?;
        // No hook watches a recipe beside the conversation, so the project's word is not enough.
        let tools = if settings.recipes.is_untrusted(recipe) { Registry::default() } else { tools };
        Ok(Agent {
            model: Arc::clone(&self.agent.model),
            engine: self.agent.engine.without_hooks(),
            tools,
            workspace: Arc::new(self.agent.workspace.aside()),
            store: Store::in_memory().map_err(|error| error.to_string())?,
            watcher: Arc::new(Aside(Arc::clone(&self.agent.watcher), self.hooks.scope())),
            asker: Arc::new(FixedAnswer(PermissionAnswer::Unattended { allowed: false })),
            permissions: Permissions::default(),
            settings: AgentSettings {
                max_turns: Some(MAX_TURNS),
                auto_compact: None,
                recipe: Some(recipe.name.clone()),
                side_run: true,
                ..settings.clone()
            },
        })
    }
}

impl SideRun {
    /// The same run, told what hooks add to the recipe's text.
    pub(super) fn with_contexts(mut self, contexts: Vec<String>) -> Self {
        self.material.contexts = contexts;
        self
    }

    /// Runs to the end.
    pub(super) fn run(self) -> SideAnswer {
        let id = self.material.conversation_id.clone();
        let (project, model) = (self.agent.engine.project(), self.agent.model.name());
        let conversation = Conversation::new(id, None, project, model);
        let mut session = Session::new(&self.agent, conversation, self.cancel.clone());
        let said = self.prompt(&session).and_then(|prompt| {
            let message = UserMessage::from(prompt.as_str());
            answer(session.send(&message))
        });
        SideAnswer { said, spent: Spent::of(session.usage()) }
    }

    /// The conversation, the recipe's text and what hooks add: together they fit into the model.
    fn prompt(&self, session: &Session) -> Result<String, String> {
        let shell = self.agent.settings.recipes.shell(&self.recipe, &self.cancel);
        let rendered = recipe::render(&self.recipe, &self.args, shell.as_ref());
        let rendered = rendered.map_err(|errors| in_words(&errors))?;
        for warning in &rendered.warnings {
            session.diagnose(warning);
        }
        let contexts = self.material.contexts.iter().map(String::as_str);
        let text = self.agent.settings.keys.text(&rendered.text);
        let task = std::iter::once(text.as_ref()).chain(contexts).collect::<Vec<_>>();
        let task = task.join("\n\n");
        let left = self.material.budget.saturating_sub(task.len());
        let talk = transcript(&self.material.messages, left);
        Ok(format!("<conversation>\n{talk}\n</conversation>\n\n{task}"))
    }
}

fn answer(finish: Finish) -> Result<String, String> {
    match finish.status {
        Status::Done if finish.response.trim().is_empty() => Err("it said nothing".to_owned()),
        Status::Done => Ok(finish.response),
        Status::MaxTurns => Err(format!("it was not done after {MAX_TURNS} turns")),
        Status::Interrupted => Err("it was interrupted".to_owned()),
        Status::Blocked | Status::Failed => {
            Err(finish.error.as_ref().map_or("it failed".to_owned(), AgentError::to_string))
        }
    }
}

/// Reports what the user must know about a side run: retries and errors. Its text is not the
/// conversation's.
struct Aside(Arc<dyn Watcher>, Scope);

impl Watcher for Aside {
    fn see(&self, _scope: &Scope, happening: &Happening) {
        if matches!(happening, Happening::Retry { .. } | Happening::Diagnostic(_)) {
            self.0.see(&self.1, happening);
        }
    }
}

/// The new history after compaction: the recipe's answer, and the user's last request verbatim.
pub(super) fn summarised(summary: &str, last_request: Option<&Message>) -> Vec<Message> {
    let about = if last_request.is_some() {
        "The conversation up to here was replaced by this summary of it. The last request follows word for word; what \
         the summary says is done of it is done."
    } else {
        "The conversation up to here was replaced by this summary of it."
    };
    let summary = Message::user(format!("<summary>\n{}\n</summary>\n\n{about}", summary.trim()));
    std::iter::once(summary).chain(last_request.cloned()).collect()
}
