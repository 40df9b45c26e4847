//! What happens in an agent, as hooks are told of it: one [`Body`] per lifecycle event, free of any wire spelling.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{EventName, Message, Object, ToolCall, ToolResult};

/// Something that happens in an agent, about to be told to hooks.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Where and for whom it happens.
    pub scope: Scope,
    /// What happens.
    pub body: Body,
}

/// An event, borrowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventRef<'e> {
    /// Where and for whom it happens.
    pub scope: &'e Scope,
    /// What happens.
    pub body: &'e Body,
}

impl<'e> From<&'e Event> for EventRef<'e> {
    fn from(event: &'e Event) -> Self {
        Self { scope: &event.scope, body: &event.body }
    }
}

/// Where and for whom an event happens: the same for every event of one agent, but for the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The conversation's id; a subagent has its own.
    pub conversation_id: String,
    /// The conversation that started this one: present exactly for subagents (R51).
    pub parent_conversation_id: Option<String>,
    /// The agent's working folder.
    pub cwd: PathBuf,
    /// The recipe that the agent was started with.
    pub recipe: Option<String>,
    /// The recipe's full name, where `recipe` is the name by which the plugin that has the recipe calls it (R68).
    pub recipe_full_name: Option<String>,
    /// RFC 3339 in UTC with `Z`.
    pub time: String,
}

/// Who caused an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InvokedBy {
    /// The agent that the person talks to.
    Main,
    /// An agent that an agent started.
    Subagent,
}

impl Scope {
    /// The scope as a hook of `plugin` (`org/repo`) gets it: a recipe of the same plugin goes by the name that the plugin
    /// calls it by. `None` where nothing differs (R68).
    pub fn for_plugin(&self, plugin: &str) -> Option<Self> {
        let full_name = self.recipe.as_deref()?;
        let short = full_name.strip_prefix(plugin)?.strip_prefix('/')?;
        Some(Self {
            recipe: Some(short.to_owned()),
            recipe_full_name: Some(full_name.to_owned()),
            ..self.clone()
        })
    }

    /// Who causes this scope's events.
    pub fn invoked_by(&self) -> InvokedBy {
        if self.parent_conversation_id.is_some() { InvokedBy::Subagent } else { InvokedBy::Main }
    }
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A process begins work on a conversation.
    SessionStart(SessionStart),
    /// A process ends its work on a conversation.
    SessionEnd(SessionEnd),
    /// A user message is about to be added.
    BeforeAgent {
        /// The message.
        message: String,
    },
    /// A tool is about to run.
    BeforeTool(ToolCall),
    /// A tool ran. Whether the event is `after_tool` or `after_tool_failure` is the result's to say.
    AfterTool {
        /// The call as it was run; of a blocked call, as the model made it (R26).
        call: ToolCall,
        /// What came of it.
        result: ToolResult,
    },
    /// The model answered.
    AfterTurn(Turn),
    /// The agent would stop.
    BeforeStop(Stop),
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
    /// The event's name.
    pub fn name(&self) -> EventName {
        match self {
            Self::SessionStart(_) => EventName::SessionStart,
            Self::SessionEnd(_) => EventName::SessionEnd,
            Self::BeforeAgent { .. } => EventName::BeforeAgent,
            Self::BeforeTool(_) => EventName::BeforeTool,
            Self::AfterTool { result, .. } if result.success => EventName::AfterTool,
            Self::AfterTool { .. } => EventName::AfterToolFailure,
            Self::AfterTurn(_) => EventName::AfterTurn,
            Self::BeforeStop(_) => EventName::BeforeStop,
            Self::AfterAgent { .. } => EventName::AfterAgent,
            Self::SubagentStart(_) => EventName::SubagentStart,
            Self::SubagentStop { .. } => EventName::SubagentStop,
            Self::PreCompact(_) => EventName::PreCompact,
            Self::PostCompact(_) => EventName::PostCompact,
        }
    }

    /// The tool call that the event is about, if it is about one.
    pub fn tool_call(&self) -> Option<&ToolCall> {
        match self {
            Self::BeforeTool(call) | Self::AfterTool { call, .. } => Some(call),
            _ => None,
        }
    }
}

/// A process begins work on a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionStart {
    /// The model, as `--model` would name it.
    pub model: String,
    /// How the agent was started: `ui`, `agent` and whatever else is known.
    pub args: Object,
}

/// A process ends its work on a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnd {
    /// How long the session took, in seconds.
    pub duration_seconds: u64,
    /// Model responses in this session.
    pub total_steps: u64,
    /// Why it ends.
    pub exit_reason: ExitReason,
}

/// Why a session ends (R60).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// All messages were answered.
    Done,
    /// The person left the chat.
    UserExit,
    /// Ctrl-C or a termination signal.
    Interrupted,
    /// A hook refused the session or the message.
    Blocked,
    /// The turn limit was hit.
    MaxTurns,
    /// Something failed.
    Error,
}

/// One model response, its tool results recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Model responses since the last user message, this one included (R6).
    pub turn_number: u64,
    /// Model responses over the whole conversation, this one included (R6).
    pub session_turn: u64,
    /// Whether the response called tools.
    pub tools_used: bool,
    /// Token figures.
    pub usage: Usage,
    /// Compaction's threshold where automatic compaction is on, a ratio of the context window.
    pub auto_compact: Option<f64>,
    /// The text of the response.
    pub response: String,
    /// The conversation, this response and its tool results included.
    pub messages: Arc<Vec<Message>>,
}

/// The agent would stop.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop {
    /// Why it would stop.
    pub reason: StopReason,
    /// Model responses since the last user message.
    pub step_count: u64,
    /// Token figures.
    pub usage: Usage,
    /// Compaction's threshold where automatic compaction is on, a ratio of the context window.
    pub auto_compact: Option<f64>,
    /// The text of the last response.
    pub response: String,
    /// The conversation.
    pub messages: Arc<Vec<Message>>,
    /// Continuations that hooks have forced in a row, so far (R34).
    pub continuation_count: u32,
}

/// Why an agent would stop (R60).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The model called no tool.
    NoToolCalls,
    /// Every tool call of the turn before was refused, and the model gave up.
    ToolRejected,
    /// The turn limit was hit.
    TurnLimit,
}

impl StopReason {
    /// The executable protocol's word (R35).
    pub fn executable(self) -> &'static str {
        match self {
            Self::NoToolCalls => "no_tool_calls",
            Self::ToolRejected => "tool_rejected",
            Self::TurnLimit => "max_turns",
        }
    }

    /// The manifest protocol's word (R60).
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
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// What it is asked to do.
    pub task: String,
}

/// A replacement of history by a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compaction {
    /// What caused it.
    pub trigger: CompactTrigger,
    /// Size of the history before, in tokens.
    pub tokens_before: u64,
    /// Size of the history after, in tokens; known only afterwards.
    pub tokens_after: Option<u64>,
}

/// What caused a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactTrigger {
    /// The threshold.
    Auto,
    /// The person.
    Manual,
    /// A hook.
    Hook,
    /// A request that the model refused as too long.
    Overflow,
}

/// Token figures of a conversation (R58). Counts are tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Sent to models, cumulative, subagents included.
    pub input_tokens: u64,
    /// Received from models, cumulative, subagents included.
    pub output_tokens: u64,
    /// The size of the last exchange.
    pub current_context_window: u64,
    /// What the model can hold.
    pub max_context_window: u64,
    /// Whether any figure was estimated because the provider gave none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// What the conversation cost so far, in US dollars, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The last exchange's own figures.
    #[serde(default)]
    pub turn: TurnUsage,
}

/// Token figures of one exchange with a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnUsage {
    /// Sent, cached or not.
    #[serde(default)]
    pub input_tokens: u64,
    /// Received, reasoning included.
    #[serde(default)]
    pub output_tokens: u64,
    /// The part of the input that the provider had in its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// The part of the input that the provider put into its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
