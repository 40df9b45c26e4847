//! Lifecycle events: one [`Body`] per event, independent of the spellings of a protocol.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{EventName, Message, Object, ToolCall, ToolResult};

/// An event in the life of an agent, as it is passed to hooks.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The agent and its surroundings.
    pub scope: Scope,
    /// The data of the event.
    pub body: Body,
}

/// A borrowed event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventRef<'e> {
    /// The agent and its surroundings.
    pub scope: &'e Scope,
    /// The data of the event.
    pub body: &'e Body,
}

impl<'e> From<&'e Event> for EventRef<'e> {
    fn from(event: &'e Event) -> Self {
        Self { scope: &event.scope, body: &event.body }
    }
}

/// The part of an event that is the same for all events of an agent, except for the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// The conversation's id; a subagent has its own.
    pub conversation_id: String,
    /// The conversation that started this one; `None` unless the agent is a subagent (R51).
    pub parent_conversation_id: Option<String>,
    /// The agent's working directory.
    pub cwd: PathBuf,
    /// The name of the recipe that the agent was started with.
    pub recipe: Option<String>,
    /// The recipe's full name if `recipe` is the short name that the recipe has in its own plugin (R68).
    pub recipe_full_name: Option<String>,
    /// The agent that fires the event, if it is another one than Tenter's.
    pub host: Option<Arc<HostFacts>>,
    /// The subagent of the host that caused the event.
    pub agent: Option<AgentFacts>,
    /// The time: RFC 3339 in UTC with `Z`.
    pub time: String,
}

/// The agent that fires an event, and the event in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    /// The name, such as `claude-code`.
    pub name: String,
    /// The version.
    pub version: Option<String>,
    /// Its own name of the event.
    pub event: Option<String>,
    /// Its own name of the tool.
    pub tool_name: Option<String>,
    /// The tool's input in its own fields, where the payload has different ones.
    pub tool_input: Option<Object>,
    /// The names of the payload's fields that it does not provide.
    pub unknown: Vec<String>,
    /// Its treatment of calls that need the user's permission, in its own word. Only hooks written for Claude Code read it.
    pub permission_mode: Option<String>,
    /// The file with the conversation, if that is in Claude Code's format. Only hooks written for it read it.
    pub transcript_path: Option<String>,
}

/// A subagent of a host.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentFacts {
    /// The subagent's id.
    pub id: String,
    /// The subagent's type, such as `Explore`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The number of agents above it. Only if the agent provides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

/// The agent that caused an event.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InvokedBy {
    /// The agent that the user talks to.
    Main,
    /// An agent that another agent started.
    Subagent,
}

impl Scope {
    /// Creates the scope of a conversation of the user's, without a recipe and a time.
    pub fn new(conversation_id: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self { conversation_id: conversation_id.into(), cwd: cwd.into(), ..Self::default() }
    }

    /// Returns the scope of a subagent that the conversation `parent` started (R51).
    #[must_use]
    pub fn with_parent(self, parent: Option<impl Into<String>>) -> Self {
        Self { parent_conversation_id: parent.map(Into::into), ..self }
    }

    /// Returns the scope of an agent that was started with this recipe.
    #[must_use]
    pub fn with_recipe(self, recipe: Option<impl Into<String>>) -> Self {
        Self { recipe: recipe.map(Into::into), ..self }
    }

    /// Returns the scope of an event of this host.
    #[must_use]
    pub fn with_host(self, host: impl Into<Arc<HostFacts>>) -> Self {
        Self { host: Some(host.into()), ..self }
    }

    /// Returns the scope for a hook of `plugin` (`org/repo`), in which a recipe of the same plugin has its short name. `None` if
    /// there is no difference (R68).
    pub fn for_plugin(&self, plugin: &str) -> Option<Self> {
        let full_name = self.recipe.as_deref()?;
        let short = full_name.strip_prefix(plugin)?.strip_prefix('/')?;
        Some(Self {
            recipe: Some(short.to_owned()),
            recipe_full_name: Some(full_name.to_owned()),
            ..self.clone()
        })
    }

    /// Returns the kind of agent that causes the events of this scope; `None` if the host does not tell them apart.
    pub fn invoked_by(&self) -> Option<InvokedBy> {
        let unknown = self.host.as_ref().map_or(&[][..], |host| &host.unknown);
        let is_known = !unknown.iter().any(|field| field == "invoked_by");
        let is_main = self.parent_conversation_id.is_none();
        is_known.then_some(if is_main { InvokedBy::Main } else { InvokedBy::Subagent })
    }
}

/// The data of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A process starts work on a conversation.
    SessionStart(SessionStart),
    /// A process ends its work on a conversation.
    SessionEnd(SessionEnd),
    /// A user message is about to be added.
    BeforeAgent {
        /// The text of the message.
        message: String,
    },
    /// A tool is about to run.
    BeforeTool(ToolCall),
    /// A tool ran. The event is `after_tool` or `after_tool_failure`, depending on the result.
    AfterTool {
        /// The call with the input that the tool ran with; for a blocked call, with the original input (R26).
        call: ToolCall,
        /// The result of the call.
        result: ToolResult,
    },
    /// The model responded.
    AfterTurn(Turn),
    /// The agent is about to stop.
    BeforeStop(StopAttempt),
    /// The agent is done with one user message.
    AfterAgent {
        /// The last text of the model.
        response: String,
    },
    /// A subagent is about to start.
    SubagentStart(Subagent),
    /// A subagent ended.
    SubagentStop {
        /// The subagent.
        subagent: Subagent,
        /// Its last text.
        response: String,
    },
    /// History is about to be replaced by a summary.
    PreCompact(Compaction),
    /// History was replaced by a summary.
    PostCompact(Compaction),
}

impl Body {
    /// Returns the name of the event.
    pub fn name(&self) -> EventName {
        match self {
            Self::SessionStart(_) => EventName::SessionStart,
            Self::SessionEnd(_) => EventName::SessionEnd,
            Self::BeforeAgent { .. } => EventName::BeforeAgent,
            Self::BeforeTool(_) => EventName::BeforeTool,
            Self::AfterTool { result, .. } if result.is_failure() => EventName::AfterToolFailure,
            Self::AfterTool { .. } => EventName::AfterTool,
            Self::AfterTurn(_) => EventName::AfterTurn,
            Self::BeforeStop(_) => EventName::BeforeStop,
            Self::AfterAgent { .. } => EventName::AfterAgent,
            Self::SubagentStart(_) => EventName::SubagentStart,
            Self::SubagentStop { .. } => EventName::SubagentStop,
            Self::PreCompact(_) => EventName::PreCompact,
            Self::PostCompact(_) => EventName::PostCompact,
        }
    }

    /// Returns the event's tool call; `None` unless it is a tool event.
    pub fn tool_call(&self) -> Option<&ToolCall> {
        match self {
            Self::BeforeTool(call) | Self::AfterTool { call, .. } => Some(call),
            _ => None,
        }
    }
}

/// A process starts work on a conversation. Here and below, `None` is what the agent does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionStart {
    /// The model, as `--model` names it.
    pub model: Option<String>,
    /// The start of the agent: `ui`, `agent` and possibly more.
    pub args: Object,
}

impl SessionStart {
    /// Creates a session with this model, about whose start nothing else is known.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), args: Object::new() }
    }
}

/// A process ends its work on a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// Duration of the session, in seconds.
    pub duration_seconds: Option<u64>,
    /// Number of model responses in this session.
    pub total_steps: Option<u64>,
    /// The reason.
    pub exit_reason: ExitReason,
}

impl SessionEnd {
    /// Creates a session that ends for this reason after this many model responses.
    pub fn new(exit_reason: ExitReason, duration_seconds: u64, total_steps: u64) -> Self {
        let (duration_seconds, total_steps) = (Some(duration_seconds), Some(total_steps));
        Self { duration_seconds, total_steps, exit_reason }
    }
}

/// The reason why a session ends (R60).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// The agent responded to all messages.
    Done,
    /// The user left the chat.
    UserExit,
    /// Ctrl-C or a termination signal.
    Interrupted,
    /// A hook blocked the session or the message.
    Blocked,
    /// The turn limit was hit.
    MaxTurns,
    /// The agent failed.
    Error,
}

/// A model response whose tool results are recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// Number of model responses since the last user message, including this one (R6).
    pub turn_number: Option<u64>,
    /// Number of model responses in the whole conversation, including this one (R6).
    pub session_turn: Option<u64>,
    /// True if the response called tools.
    pub tools_used: bool,
    /// Token counts.
    pub usage: Option<Usage>,
    /// The threshold of automatic compaction, as a ratio of the context window; `None` if it is off.
    pub auto_compact: Option<f64>,
    /// The text of the response.
    pub response: String,
    /// The conversation, including this response and its tool results.
    pub messages: Option<Arc<Vec<Message>>>,
}

impl Turn {
    /// Creates the response number `turn_number` since the last user message. Nothing else is known, and no tool was called.
    pub fn new(turn_number: u64, response: impl Into<String>) -> Self {
        Self { turn_number: Some(turn_number), response: response.into(), ..Self::default() }
    }
}

/// The agent is about to stop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StopAttempt {
    /// The reason.
    pub reason: StopReason,
    /// Number of model responses since the last user message.
    pub step_count: Option<u64>,
    /// Token counts.
    pub usage: Option<Usage>,
    /// The threshold of automatic compaction, as a ratio of the context window; `None` if it is off.
    pub auto_compact: Option<f64>,
    /// The text of the last response.
    pub response: String,
    /// The conversation.
    pub messages: Option<Arc<Vec<Message>>>,
    /// Number of continuations in a row that hooks have forced so far (R34).
    pub continuation_count: u32,
}

impl StopAttempt {
    /// Creates an agent that would stop after this response, which calls no tool. Nothing else is known.
    pub fn new(response: impl Into<String>) -> Self {
        Self { response: response.into(), ..Self::default() }
    }
}

/// The reason why an agent is about to stop (R60).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StopReason {
    /// The model called no tool.
    #[default]
    NoToolCalls,
    /// Every tool call of the previous turn was blocked, and the model gave up.
    ToolRejected,
    /// The turn limit was hit.
    TurnLimit,
}

impl StopReason {
    /// Every reason.
    #[cfg(feature = "schema")]
    pub(crate) const ALL: [Self; 3] = [Self::NoToolCalls, Self::ToolRejected, Self::TurnLimit];

    /// Returns the name in the executable protocol (R35).
    pub fn executable(self) -> &'static str {
        match self {
            Self::NoToolCalls => "no_tool_calls",
            Self::ToolRejected => "tool_rejected",
            Self::TurnLimit => "max_turns",
        }
    }

    /// Returns the name in the manifest protocol (R60).
    pub fn manifest(self) -> &'static str {
        match self {
            Self::TurnLimit => "max_steps",
            other => other.executable(),
        }
    }
}

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// The name that the caller gave it.
    pub name: String,
    /// The type that the caller gave it.
    pub kind: String,
    /// The task.
    pub task: String,
}

impl Subagent {
    /// Creates a subagent of this name and kind that is given `task`.
    pub fn new(name: impl Into<String>, kind: impl Into<String>, task: impl Into<String>) -> Self {
        Self { name: name.into(), kind: kind.into(), task: task.into() }
    }
}

/// The replacement of a history by a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// The cause.
    pub trigger: CompactTrigger,
    /// Size of the history before, in tokens.
    pub tokens_before: Option<u64>,
    /// Size of the history after, in tokens; `None` also before the compaction.
    pub tokens_after: Option<u64>,
}

impl Compaction {
    /// Creates a compaction that is about to happen.
    pub fn new(trigger: CompactTrigger, tokens_before: u64) -> Self {
        Self { trigger, tokens_before: Some(tokens_before), tokens_after: None }
    }
}

/// The cause of a compaction.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactTrigger {
    /// The history reached the threshold.
    Auto,
    /// The user.
    Manual,
    /// A hook.
    Hook,
    /// The model rejected a request as too long.
    Overflow,
}

/// Token counts of a conversation (R58).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to models in this conversation, including subagents.
    pub input_tokens: u64,
    /// Tokens received from models in this conversation, including subagents.
    pub output_tokens: u64,
    /// The size of the last exchange, in tokens.
    pub current_context_window: u64,
    /// The size of the model's context window, in tokens.
    pub max_context_window: u64,
    /// `true` if the provider did not report all counts and some are estimates. Only if `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// The cost of the conversation so far, in US dollars. Only if prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The counts of the last exchange alone.
    #[serde(default)]
    pub turn: TurnUsage,
}

/// Token counts of one exchange with a model.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUsage {
    /// Tokens sent, cached or not.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens received, including reasoning.
    #[serde(default)]
    pub output_tokens: u64,
    /// Input tokens read from the provider's cache. Only if not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// Input tokens written to the provider's cache. Only if not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
