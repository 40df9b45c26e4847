//! A session: one process's work on one conversation, from `session_start` to `session_end`.
//!
//! `turns` is the loop from a user message to the stop. `model_request` requests a response, `response` interprets it, and
//! `tool_calls` runs its calls, which choose from `tool_set`,
//! if the user permits them (`permission`). `history` applies the changes that hooks request, `compaction` replaces the history by a summary,
//! `side_recipe` runs a recipe outside the conversation, `services` answers what hooks request, `late_replies` delivers the replies of asynchronous hooks, and `subagents`
//! runs an agent inside the agent. Only the session calls the engine.

mod compaction;
mod history;
mod late_replies;
mod model_request;
mod permission;
mod response;
mod services;
mod side_recipe;
mod status;
mod subagents;
mod tool_calls;
mod tool_set;
mod turns;
mod user_message;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tenter_base::{lock, rfc3339};
use tenter_engine::inspect::KeyMask;
use tenter_engine::{Attributed, Denial, Engine, HookSession, StartDecision};
use tenter_proc::Cancel;
use tenter_protocol::event::{ExitReason, SessionEnd, SessionStart, Usage};
use tenter_protocol::{Diagnostic, Message, Object, Scope};

use self::late_replies::LateRecipe;
use self::services::SessionServices;
use self::tool_set::ToolSet;
use crate::conversation::{Conversation, Spent};
use crate::model::Model;
use crate::permission::{Asker, Permissions};
use crate::prompt::{SectionWriter, SystemPrompt};
use crate::recipe::RecipeBook;
use crate::snapshot::Recorder;
use crate::store::Store;
use crate::tools::{Registry, Workspace};
use crate::watch::{SessionUpdate, Watcher};

pub use compaction::CompactionResult;
pub use model_request::RetrySettings;
pub use status::{AgentError, Finish, Status};
pub use user_message::UserMessage;

/// Everything that the conversations of one agent share.
pub struct Agent {
    /// The model.
    pub model: Arc<dyn Model>,
    /// A cheaper model, for hooks that request it (S7). Without one, the model answers them.
    pub weak_model: Option<Arc<dyn Model>>,
    /// The hooks.
    pub engine: Engine,
    /// The tools.
    pub tools: Registry,
    /// The files that the tools work on. Subagents and side recipes use [another one](Workspace::for_another_conversation).
    pub workspace: Arc<Workspace>,
    /// The store of conversations.
    pub store: Store,
    /// Receives updates of the agent's work.
    pub watcher: Arc<dyn Watcher>,
    /// Asks the user if a hook replies `ask` or the permission mode says so.
    pub asker: Arc<dyn Asker>,
    /// The permission mode, and the user's permissions for the session.
    pub permissions: Permissions,
    /// Records the states of files before each turn, so that the user can undo it.
    pub snapshots: Option<Arc<Recorder>>,
    /// The settings.
    pub settings: AgentSettings,
}

/// The settings of an agent.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// The system prompt.
    pub system_prompt: SystemPrompt,
    /// Maximum number of model responses to one user message; `None` means no limit.
    pub max_turns: Option<u64>,
    /// Maximum number of continuations in a row that hooks may force (R34).
    pub max_continuations: u32,
    /// Retries after transient failures of the model.
    pub retry: RetrySettings,
    /// The share of the context window at which the conversation is compacted; `None` compacts only on request (R50).
    pub auto_compact: Option<f64>,
    /// The recipes that hooks may call back.
    pub recipes: RecipeBook,
    /// The recipe that the session runs, as payloads name it.
    pub recipe: Option<String>,
    /// The agent runs a side recipe, which cannot start another one (R33).
    pub is_side_recipe: bool,
    /// Masks model keys in tool results (R80).
    pub keys: KeyMask,
    /// The user interface: `run` or `chat`.
    pub ui: &'static str,
}

/// One process's work on one conversation.
pub struct Session<'a> {
    agent: &'a Agent,
    conversation: Conversation,
    workspace: Arc<Workspace>,
    hooks: HookSession<'a>,
    /// The tools, with their descriptions for the model.
    tools: ToolSet,
    /// Marks text that hooks add for the model.
    sections: SectionWriter,
    started: Timestamp,
    /// Number of model responses in this session.
    steps: u64,
    /// Text from hooks of `session_start`, added to the first user message.
    pending_context: Vec<Attributed<String>>,
    /// Tokens and cost of subagents that are not yet added to the conversation.
    subagents_spent: Mutex<Spent>,
    /// The services that hooks may request.
    services: Arc<SessionServices>,
    /// The conversation that started this one, as it was then.
    parent_messages: Option<Arc<Vec<Message>>>,
    /// Recipes that asynchronous hooks called back.
    late_recipes: Vec<LateRecipe>,
    /// Messages of the diagnostics that were reported and are reported only once.
    reported_messages: Mutex<BTreeSet<String>>,
}

/// A hook denied a session or a user message.
#[derive(Debug)]
pub struct DeniedByHook {
    /// The hook's name.
    pub hook: String,
    /// The hook's reason.
    pub reason: String,
}

impl From<Denial> for DeniedByHook {
    fn from(denial: Denial) -> Self {
        Self { hook: denial.hook.unwrap_or_default(), reason: denial.reason }
    }
}

/// Maximum wait for asynchronous hooks at the end of a session (R22).
const DRAIN: Duration = Duration::from_secs(5);

impl<'a> Session<'a> {
    /// Starts a session on `conversation` and fires `session_start`.
    ///
    /// # Errors
    /// A hook denies. Then `session_end` was fired too, and nothing is stored (R29).
    pub fn start(
        agent: &'a Agent,
        conversation: Conversation,
        cancel: Cancel,
    ) -> Result<Self, DeniedByHook> {
        let mut session = Self::new(agent, conversation, cancel);
        session.notify(&SessionUpdate::SessionStarted {
            model: agent.model.name(),
            project: agent.engine.project(),
            hooks: agent.engine.catalog().hooks().len(),
        });
        let args: Object = [("ui", agent.settings.ui), ("agent", "tenter")]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect();
        let model = Some(agent.model.name().to_owned());
        session.pending_context = match session.hooks().session_start(SessionStart { model, args })
        {
            StartDecision::Start { contexts } => contexts,
            // A cancelled hook did not deny.
            StartDecision::Deny(denial) if denial.is_cancelled() => denial.contexts,
            StartDecision::Deny(denial) => {
                session.report_denial(Some(&denial));
                session.end(Status::Blocked, ExitReason::Blocked);
                return Err(DeniedByHook::from(denial));
            }
        };
        session.report_stopped_callbacks();
        session.start_tool_source();
        Ok(session)
    }

    fn new(agent: &'a Agent, conversation: Conversation, cancel: Cancel) -> Self {
        // A subagent uses its parent's marker, so that both prompts have the same beginning, which providers cache.
        let sections =
            SectionWriter::new(conversation.parent().unwrap_or_else(|| conversation.id()));
        let scope = Scope::new(conversation.id(), agent.workspace.cwd())
            .with_parent(conversation.parent())
            .with_recipe(agent.settings.recipe.as_deref());
        let keys = agent.settings.keys.clone();
        Self {
            agent,
            conversation,
            workspace: Arc::clone(&agent.workspace),
            hooks: agent.engine.session(scope).with_cancel(cancel).with_key_mask(keys),
            tools: ToolSet::new(agent, &sections),
            sections,
            started: agent.engine.now(),
            steps: 0,
            pending_context: Vec::new(),
            subagents_spent: Mutex::default(),
            services: SessionServices::new(agent),
            parent_messages: None,
            late_recipes: Vec::new(),
            reported_messages: Mutex::default(),
        }
    }

    /// Ends the session and fires `session_end`, also after an interruption.
    pub fn end(mut self, status: Status, exit_reason: ExitReason) {
        let duration = self.agent.engine.now().duration_since(self.started);
        let feedback = self.hooks().session_end(SessionEnd {
            duration_seconds: u64::try_from(duration.as_secs()).ok(),
            total_steps: Some(self.steps),
            exit_reason,
        });
        // A hook cannot prevent the end, but its denial is reported (R29).
        self.report_denial(feedback.denial.as_ref());
        self.agent.engine.drain(DRAIN);
        // The loss of the conversation to another process was already reported.
        let was_lost = self.conversation.is_lost();
        if let Err(error) = self.end_late_recipes()
            && !was_lost
        {
            self.diagnose(&error.diagnostic());
        }
        if let Err(error) =
            self.conversation.set_status(&self.agent.store, status.as_str(), &self.now())
        {
            self.diagnose(&AgentError::from(error).diagnostic());
        }
        self.notify(&SessionUpdate::SessionEnded {
            status: status.as_str(),
            exit_code: status.exit_code(),
            usage: self.usage(),
        });
    }

    /// Returns the conversation's id.
    pub fn conversation_id(&self) -> &str {
        self.conversation.id()
    }

    /// Returns the conversation so far.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Returns the token usage so far.
    pub fn usage(&self) -> &Usage {
        self.conversation.usage()
    }

    /// Replaces the cancellation token, so that the session can continue after a cancelled turn.
    pub fn renew(&mut self, cancel: Cancel) {
        self.hooks = self.hooks.clone().with_cancel(cancel);
    }

    fn now(&self) -> String {
        rfc3339(self.agent.engine.now())
    }

    fn cancel(&self) -> &Cancel {
        self.hooks.cancel()
    }

    fn notify(&self, update: &SessionUpdate) {
        let keys = &self.agent.settings.keys;
        let notify = |update: &SessionUpdate| {
            self.agent.watcher.on_update(&self.hooks.scope(), update);
        };
        match update {
            SessionUpdate::Text(text) => notify(&SessionUpdate::Text(&keys.text(text))),
            SessionUpdate::Reasoning(text) => notify(&SessionUpdate::Reasoning(&keys.text(text))),
            update => notify(update),
        }
    }

    /// Reports a diagnostic, with model keys masked.
    pub fn diagnose(&self, diagnostic: &Diagnostic) {
        let keys = &self.agent.settings.keys;
        let mut copy = diagnostic.clone();
        copy.message = keys.text(&diagnostic.message).into_owned();
        copy.help = diagnostic.help.as_deref().map(|help| keys.text(help).into_owned());
        self.notify(&SessionUpdate::Diagnostic(&copy));
    }

    /// Reports a diagnostic, unless this session reported the same before.
    fn diagnose_once(&self, diagnostic: &Diagnostic) {
        let mut codes = lock(&self.reported_messages);
        if codes.insert(diagnostic.message.clone()) {
            drop(codes);
            self.diagnose(diagnostic);
        }
    }

    /// Reports that a hook denied, if one did.
    fn report_denial(&self, denial: Option<&Denial>) {
        self.report_call_denial(None, denial);
    }

    /// Reports that a hook denied the call with this id, if one did.
    fn report_call_denial(&self, call_id: Option<&str>, denial: Option<&Denial>) {
        if let Some(Denial { event, hook: Some(hook), reason, .. }) = denial {
            self.notify(&SessionUpdate::Blocked { event: *event, hook, reason, call_id });
        }
    }
}
