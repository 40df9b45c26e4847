//! A recipe beside the conversation: an agent of its own, in a fresh thread, works on the conversation as text (R33).
//!
//! It has the tools that the recipe allows it, no hooks, no compaction, no store and nobody to ask. It cannot start another.
//! What it spends is the conversation's; what it says is for whoever started it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenter_engine::catalog::Catalog;
use tenter_engine::{Engine, EngineSettings};
use tenter_proc::Cancel;
use tenter_protocol::{Message, Scope};

use super::{Agent, AgentError, AgentSettings, Finish, Session, Status, UserMessage};
use crate::conversation::{Conversation, Spent};
use crate::permission::{Answer, FixedAnswer, Permissions};
use crate::recipe::{self, Recipe};
use crate::store::Store;
use crate::transcript::transcript;
use crate::watch::{Happening, Watcher};

/// Model responses of a side run at most: it is to come to an end on its own.
const MAX_TURNS: u64 = 30;
/// Bytes of text that a token is taken for, with room for what a tokenizer makes more of.
const BYTES_PER_TOKEN: u64 = 3;

/// A recipe that is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'w> {
    /// Its name.
    pub(super) recipe: &'w str,
    /// Its arguments.
    pub(super) args: &'w BTreeMap<String, String>,
    /// What hooks want it to know besides.
    pub(super) contexts: &'w [String],
}

/// A side run that is ready to start; nothing ties it to the session that made it.
pub(super) struct SideRun {
    agent: Agent,
    id: String,
    prompt: String,
    cancel: Cancel,
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
        let book = &settings.recipes;
        let recipe = book.find(wanted.recipe).map_err(|error| error.to_string())?;
        let shell = book.shell(&recipe, cancel);
        let rendered = recipe::render(&recipe, wanted.args, shell.as_ref()).map_err(|errors| {
            errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join("; ")
        })?;
        for warning in &rendered.warnings {
            self.diagnose(warning);
        }
        let prompt = self.prompt(&rendered.text, wanted.contexts);
        Ok(SideRun {
            agent: self.side_agent(&recipe)?,
            id: self.conversation.id().to_owned(),
            prompt,
            cancel: cancel.clone(),
        })
    }

    /// The recipe's text and the conversation, which together fit into the model.
    fn prompt(&self, task: &str, contexts: &[String]) -> String {
        let window = self.agent.model.context_window().saturating_mul(BYTES_PER_TOKEN);
        let budget =
            usize::try_from(window / 4 * 3).unwrap_or(usize::MAX).saturating_sub(task.len());
        let talk = transcript(&self.conversation.messages(), budget);
        let mut prompt = task.to_owned();
        for context in contexts {
            prompt.push_str("\n\n");
            prompt.push_str(context);
        }
        format!("{prompt}\n\n<conversation>\n{talk}\n</conversation>")
    }

    fn side_agent(&self, recipe: &Recipe) -> Result<Agent, String> {
        let settings = &self.agent.settings;
        let tools = recipe.restrict(self.agent.tools.clone()).map_err(|error| error.to_string())?;
        let engine = EngineSettings {
            project: settings.project.clone(),
            environment: tenter_engine::environment::HookEnvironment::default(),
            clock: settings.clock,
            observers: Vec::new(),
        };
        Ok(Agent {
            model: Arc::clone(&self.agent.model),
            engine: Engine::new(Catalog::default(), engine),
            tools,
            workspace: Arc::clone(&self.agent.workspace),
            store: Store::in_memory().map_err(|error| error.to_string())?,
            watcher: Arc::new(Aside(Arc::clone(&self.agent.watcher), self.scope())),
            asker: Arc::new(FixedAnswer(Answer::No)),
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
    /// Runs to the end.
    pub(super) fn run(self) -> SideAnswer {
        let settings = &self.agent.settings;
        let name = self.agent.model.name();
        let conversation = Conversation::new(self.id, None, &settings.project, name);
        let mut session = Session::new(&self.agent, conversation, self.cancel);
        let finish = session.send(&UserMessage::from(self.prompt.as_str()));
        let spent = Spent::of(session.usage());
        SideAnswer { said: answer(finish), spent }
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

/// Shows of a side run what a person must know: that it is asked again, and what is wrong. Its text is not the
/// conversation's.
struct Aside(Arc<dyn Watcher>, Scope);

impl Watcher for Aside {
    fn see(&self, _scope: &Scope, happening: &Happening) {
        if matches!(happening, Happening::Retry { .. } | Happening::Diagnostic(_)) {
            self.0.see(&self.1, happening);
        }
    }
}

/// The history in whose place a recipe's answer stands: the answer, and the person's last request word for word.
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
