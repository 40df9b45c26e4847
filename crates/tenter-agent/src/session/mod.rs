//! A session: one process's work on one conversation, from `session_start` to `session_end`.
//!
//! `turns` is the loop from a user message to the stop, `asking` gets one response, `response` reads it, `calls` runs its
//! tool calls, `history` applies what hooks want done to the history, `subagents` runs an agent inside an agent. The
//! session is the only place that dispatches events; the rest of the crate never sees the engine.

mod asking;
mod calls;
mod compaction;
mod history;
mod late;
mod response;
mod side;
mod status;
mod subagents;
mod turns;
mod user_message;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tenter_base::rfc3339;
use tenter_engine::keys::KeyMask;
use tenter_engine::{Attributed, Denial, Engine, HookSession, StartDecision};
use tenter_proc::Cancel;
use tenter_protocol::event::{ExitReason, SessionEnd, SessionStart, Usage};
use tenter_protocol::{Diagnostic, Object, Scope};

use self::late::LateRun;
use crate::conversation::{Conversation, Spent};
use crate::model::{Model, ToolSpec};
use crate::permission::{Asker, Permissions};
use crate::prompt::{SectionWriter, SystemPrompt};
use crate::recipe::RecipeBook;
use crate::store::Store;
use crate::tools::{Registry, Workspace};
use crate::watch::{Happening, Watcher};

pub use asking::RetrySettings;
pub use compaction::Compacted;
pub use status::{AgentError, Finish, Status};
pub use user_message::UserMessage;

/// Everything that the conversations of one agent share.
pub struct Agent {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The hooks.
    pub engine: Engine,
    /// The tools.
    pub tools: Registry,
    /// What the tools work on. Other conversations than the session's have their own [aside](Workspace::aside) from it.
    pub workspace: Arc<Workspace>,
    /// Where conversations are kept.
    pub store: Store,
    /// Who sees what happens.
    pub watcher: Arc<dyn Watcher>,
    /// Who answers where a hook says `ask`.
    pub asker: Arc<dyn Asker>,
    /// What was allowed for the session.
    pub permissions: Permissions,
    /// The rest.
    pub settings: AgentSettings,
}

/// How an agent works.
#[derive(Debug, Clone)]
pub struct AgentSettings {
    /// The system prompt.
    pub system_prompt: SystemPrompt,
    /// Model responses to one user message at most; `None` is without limit.
    pub max_turns: Option<u64>,
    /// Continuations that hooks may force in a row (R34).
    pub max_continuations: u32,
    /// How a model is asked again after a trouble that passes.
    pub retry: RetrySettings,
    /// How full the context may become, as a share of the window, before it is compacted; `None` compacts only on demand
    /// (R50).
    pub auto_compact: Option<f64>,
    /// The recipes that hooks may call back.
    pub recipes: RecipeBook,
    /// The recipe that the work is for, as payloads name it.
    pub recipe: Option<String>,
    /// Whether this is a recipe beside a conversation, which starts no other (R33).
    pub side_run: bool,
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
    specs: Vec<ToolSpec>,
    /// The system prompt with what the tools have to say in it.
    system: String,
    /// Marks what hooks say to the model.
    sections: SectionWriter,
    started: Timestamp,
    /// Model responses in this session.
    steps: u64,
    /// Text from hooks of `session_start`, which goes with the first user message.
    pending_context: Vec<Attributed<String>>,
    /// What subagents spent since it was last asked.
    subagents_spent: Mutex<Spent>,
    /// Recipes that asynchronous hooks called back.
    late_runs: Vec<LateRun>,
    /// Diagnostics that are reported once in a session, by their messages.
    reported: Mutex<BTreeSet<String>>,
}

/// A hook refused to let a session start.
#[derive(Debug)]
pub struct Refused {
    /// Which hook.
    pub hook: String,
    /// Why.
    pub reason: String,
}

impl From<Denial> for Refused {
    fn from(denial: Denial) -> Self {
        Self { hook: denial.hook.unwrap_or_default(), reason: denial.reason }
    }
}

/// How long to wait for asynchronous hooks at the end of a session (R22).
const DRAIN: Duration = Duration::from_secs(5);

impl<'a> Session<'a> {
    /// Begins work on `conversation`: fires `session_start`.
    ///
    /// # Errors
    /// When a hook refuses; `session_end` was fired then, and nothing is stored (R29).
    pub fn start(
        agent: &'a Agent,
        conversation: Conversation,
        cancel: Cancel,
    ) -> Result<Self, Refused> {
        let mut session = Self::new(agent, conversation, cancel);
        session.tell(&Happening::SessionStarted {
            model: agent.model.name(),
            project: agent.engine.project(),
            hooks: agent.engine.catalog().hooks().len(),
        });
        let args: Object = [("ui", agent.settings.ui), ("agent", "tenter")]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into()))
            .collect();
        let model = agent.model.name().to_owned();
        session.pending_context = match session.hooks.session_start(SessionStart { model, args }) {
            StartDecision::Start { contexts } => contexts,
            // A hook that was cancelled with the session has denied nothing.
            StartDecision::Deny(denial) if denial.is_cancelled() => denial.contexts,
            StartDecision::Deny(denial) => {
                session.report_denial(Some(&denial));
                session.end(Status::Blocked, ExitReason::Blocked);
                return Err(Refused::from(denial));
            }
        };
        session.tell_tired();
        Ok(session)
    }

    fn new(agent: &'a Agent, conversation: Conversation, cancel: Cancel) -> Self {
        let specs = agent
            .tools
            .iter()
            .map(|tool| ToolSpec {
                name: tool.name().to_owned(),
                description: tool.description().to_owned(),
                schema: tool.input_schema(),
            })
            .collect();
        let guidance = agent.tools.iter().filter_map(crate::tools::Tool::guidance);
        // A subagent shares its parent's marker, and with it the beginning of the prompt that providers cache.
        let sections =
            SectionWriter::new(conversation.parent().unwrap_or_else(|| conversation.id()));
        let prompt = std::iter::once(agent.settings.system_prompt.render(&sections));
        let scope = Scope::new(conversation.id(), agent.workspace.cwd())
            .with_parent(conversation.parent())
            .with_recipe(agent.settings.recipe.as_deref());
        let keys = agent.settings.keys.clone();
        Self {
            agent,
            conversation,
            workspace: Arc::clone(&agent.workspace),
            hooks: agent.engine.session(scope).with_cancel(cancel).with_key_mask(keys),
            specs,
            system: prompt.chain(guidance).collect::<Vec<_>>().join("\n\n"),
            sections,
            started: agent.engine.now(),
            steps: 0,
            pending_context: Vec::new(),
            subagents_spent: Mutex::default(),
            late_runs: Vec::new(),
            reported: Mutex::default(),
        }
    }

    /// Ends the work: fires `session_end`, also after an interruption.
    pub fn end(mut self, status: Status, exit_reason: ExitReason) {
        let duration = self.agent.engine.now().duration_since(self.started);
        let feedback = self.hooks.session_end(SessionEnd {
            duration_seconds: u64::try_from(duration.as_secs()).unwrap_or(0),
            total_steps: self.steps,
            exit_reason,
        });
        // It ends all the same, but a hook's objection is shown (R29).
        self.report_denial(feedback.denial.as_ref());
        self.agent.engine.drain(DRAIN);
        // That a conversation is another process's by now was told when it was found out.
        let was_lost = self.conversation.is_lost();
        if let Err(error) = self.end_late()
            && !was_lost
        {
            self.diagnose(&error.diagnostic());
        }
        if let Err(error) =
            self.conversation.set_status(&self.agent.store, status.as_str(), &self.now())
        {
            self.diagnose(&AgentError::from(error).diagnostic());
        }
        self.tell(&Happening::Ended {
            status: status.as_str(),
            exit_code: status.exit_code(),
            usage: self.usage(),
        });
    }

    /// The conversation's id.
    pub fn conversation_id(&self) -> &str {
        self.conversation.id()
    }

    /// Token figures so far.
    pub fn usage(&self) -> &Usage {
        self.conversation.usage()
    }

    /// Replaces the cancellation token after a cancelled turn: `chat` continues after Ctrl-C.
    pub fn renew(&mut self, cancel: Cancel) {
        self.hooks = self.hooks.clone().with_cancel(cancel);
    }

    fn now(&self) -> String {
        rfc3339(self.agent.engine.now())
    }

    fn cancel(&self) -> &Cancel {
        self.hooks.cancel()
    }

    fn tell(&self, happening: &Happening) {
        self.agent.watcher.see(&self.hooks.scope(), happening);
    }

    /// Tells a finding.
    pub fn diagnose(&self, diagnostic: &Diagnostic) {
        let keys = &self.agent.settings.keys;
        let mut masked = diagnostic.clone();
        masked.message = keys.text(&diagnostic.message).into_owned();
        masked.help = diagnostic.help.as_deref().map(|help| keys.text(help).into_owned());
        self.tell(&Happening::Diagnostic(&masked));
    }

    /// Reports a diagnostic, unless this session reported the same before.
    fn diagnose_once(&self, diagnostic: &Diagnostic) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.insert(diagnostic.message.clone()) {
            drop(reported);
            self.diagnose(diagnostic);
        }
    }

    /// Reports that a hook denied, if one did.
    fn report_denial(&self, denial: Option<&Denial>) {
        if let Some(Denial { event, hook: Some(hook), reason, .. }) = denial {
            self.tell(&Happening::Blocked { event: *event, hook, reason });
        }
    }
}
