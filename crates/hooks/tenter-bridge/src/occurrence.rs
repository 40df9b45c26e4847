//! One native event as the bridge reads it, free of the host's field names.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::event::CompactTrigger;
use tenter_protocol::{Object, json};

use crate::digest::short_id;
use crate::payload::{Payload, PayloadError};

/// One native event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The host's id of the main agent's session, also at events of its subagents.
    pub session: String,
    /// The subagent that causes the event, where the host marks it.
    pub agent: Option<NativeAgent>,
    /// The working directory of the agent.
    pub cwd: PathBuf,
    /// The event itself.
    pub detail: Detail,
}

/// A subagent of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeAgent {
    /// The host's id of it.
    pub id: String,
    /// Its type.
    pub kind: Option<String>,
    /// The agent that started it, if the host names it: another subagent, or the session for the main agent.
    pub parent: Option<String>,
}

impl Occurrence {
    /// Replaces ids that are too long by their digests (R83).
    pub(crate) fn with_short_ids(mut self) -> Self {
        let agent = self.agent.as_mut();
        let agent_ids = agent.map(|agent| [Some(&mut agent.id), agent.parent.as_mut()]);
        let ids = agent_ids.into_iter().flatten().flatten().chain([&mut self.session]);
        for id in ids {
            *id = short_id(id).into_owned();
        }
        self
    }
}

/// The content of a native event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Detail {
    /// A session started or resumed.
    SessionStart {
        /// The source, in the host's word: `startup`, `resume`, …
        source: Option<String>,
        /// The model.
        model: Option<String>,
    },
    /// The history was replaced, and the model reads the contexts of the session's start once more.
    ContextLost,
    /// The user sends a message.
    Prompt {
        /// Its text.
        text: String,
        /// The host's id of it: the host may show a message several times.
        id: Option<String>,
    },
    /// The host has assembled the text that the model reads of a message.
    PromptSent {
        /// The message as the user wrote it.
        text: String,
        /// The text for the model, with the additions of the host.
        sent: String,
    },
    /// Before a tool runs.
    BeforeTool(NativeCall),
    /// A tool ended.
    AfterTool {
        /// The call as it ran.
        call: NativeCall,
        /// Its end.
        end: ToolEnd,
    },
    /// All tool calls of one response have ended.
    AfterBatch,
    /// Before the agent stops.
    Stop {
        /// The last text of the model.
        response: Option<String>,
    },
    /// The agent stopped because of an error.
    StopFailure {
        /// The last text of the model, or the error.
        response: Option<String>,
    },
    /// A subagent started.
    SubagentStart,
    /// Before a subagent stops.
    SubagentStop {
        /// Its last text.
        response: Option<String>,
    },
    /// Before a summary replaces the history.
    PreCompact(Compaction),
    /// A summary replaced the history.
    PostCompact(Compaction),
    /// The session ends.
    SessionEnd {
        /// The reason, in the host's word.
        reason: Option<String>,
    },
    /// Nothing that concerns hooks, although the host fired the event.
    Nothing,
}

/// A compaction of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// Its cause.
    pub trigger: CompactTrigger,
    /// The size of the history at this moment, in tokens, if the host gives it.
    pub tokens: Option<u64>,
}

impl From<CompactTrigger> for Compaction {
    /// Creates a compaction of a history of unknown size.
    fn from(trigger: CompactTrigger) -> Self {
        Self { trigger, tokens: None }
    }
}

/// A tool call in the host's own names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NativeCall {
    /// The call's id, if the host has one that is the same before and after the call.
    pub id: Option<String>,
    /// The host's name of the tool.
    pub tool: String,
    /// The MCP server that provides the tool, if the host names it.
    pub server: Option<String>,
    /// The input in the host's own fields.
    pub input: Object,
    /// True if the input cannot be read, so that `input` is empty and no hook can judge the call.
    #[serde(default)]
    pub has_unreadable_input: bool,
    /// True if the payload shows that the host runs the call without asking the user.
    pub unasked: bool,
}

impl NativeCall {
    /// Reads a call from the fields `tool_name` and `tool_input` of a payload, with its id from the field `id`.
    pub(crate) fn read(payload: &Payload, id: &str) -> Result<Self, PayloadError> {
        Ok(Self {
            id: payload.text(id).map(str::to_owned),
            tool: payload.required("tool_name")?.to_owned(),
            ..Self::with_input(payload.get("tool_input").unwrap_or(&Value::Null))
        })
    }

    /// Returns a call with this input: an object, an object as JSON in a text (B8), or nothing.
    pub fn with_input(input: &Value) -> Self {
        let input = match input {
            Value::Object(input) => Some(input.clone()),
            Value::Null => Some(Object::new()),
            Value::String(text) if text.trim().is_empty() => Some(Object::new()),
            Value::String(text) => object_in(text),
            _ => None,
        };
        let has_unreadable_input = input.is_none();
        Self { input: input.unwrap_or_default(), has_unreadable_input, ..Self::default() }
    }

    /// Returns a call with this input, in a host with tools whose input is a text: that text is in the field `field`.
    pub(crate) fn with_input_or_text(input: &Value, field: &str) -> Self {
        match input {
            Value::String(text) if object_in(text).is_none() => {
                let input = Object::from_iter([(field.to_owned(), input.clone())]);
                Self { input, ..Self::default() }
            }
            input => Self::with_input(input),
        }
    }
}

/// Reads an object from JSON within JSON.
fn object_in(text: &str) -> Option<Object> {
    match json::read(text.as_bytes()) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// The end of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolEnd {
    /// Success or failure.
    pub outcome: ToolOutcome,
    /// The result in the host's own form; null if the host gives none.
    pub result: Value,
    /// The text that the model reads, if the host gives it as a text of its own.
    pub output: Option<String>,
    /// The exit code of a command, if the host gives it.
    pub exit_code: Option<i32>,
    /// Its duration, in milliseconds.
    pub duration_ms: Option<u64>,
}

/// Success or failure of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolOutcome {
    /// It succeeded.
    Success,
    /// It failed; this is the error in the host's words.
    Failure(String),
    /// The host does not report it.
    Unknown,
}

impl ToolEnd {
    /// Creates the end of a tool with this outcome and native result.
    pub fn new(outcome: ToolOutcome, result: Value) -> Self {
        Self { outcome, result, output: None, exit_code: None, duration_ms: None }
    }
}
