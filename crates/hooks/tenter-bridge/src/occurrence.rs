//! What happened in a host: one native event as the bridge reads it, free of the host's field names.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::Object;
use tenter_protocol::event::CompactTrigger;

use crate::digest::short_id;

/// One native event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The host's id of the session; that of the main agent, also at events of its subagents.
    pub session: String,
    /// The subagent that causes the event, where the host marks it.
    pub agent: Option<NativeAgent>,
    /// The working directory of the agent.
    pub cwd: PathBuf,
    /// What happened.
    pub detail: Detail,
}

/// A subagent of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeAgent {
    /// The host's id of it.
    pub id: String,
    /// Its type.
    pub kind: Option<String>,
    /// The agent that started it, where the host tells: another subagent, or the session for the main agent.
    pub parent: Option<String>,
}

impl Occurrence {
    /// The same with ids of limited length: a longer one is replaced by its digest (R83).
    pub(crate) fn with_short_ids(mut self) -> Self {
        let agent = self.agent.as_mut();
        let of_agent = agent.map(|agent| [Some(&mut agent.id), agent.parent.as_mut()]);
        let ids = of_agent.into_iter().flatten().flatten().chain([&mut self.session]);
        for id in ids {
            *id = short_id(id).into_owned();
        }
        self
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Detail {
    /// A session started or resumed.
    SessionStart {
        /// How, in the host's word: `startup`, `resume`, …
        source: Option<String>,
        /// The model.
        model: Option<String>,
    },
    /// The history was replaced, and the model reads what it read at the session's start once more.
    ContextLost,
    /// The user sends a message.
    Prompt {
        /// Its text.
        text: String,
        /// The host's id of it: the host may show a message several times.
        id: Option<String>,
    },
    /// The host has put together what the model is to read of a message.
    PromptSent {
        /// The message as the user wrote it.
        text: String,
        /// What the model is to read, with what the host adds.
        sent: String,
    },
    /// A tool is about to run.
    BeforeTool(NativeCall),
    /// A tool ended.
    AfterTool {
        /// The call as it ran.
        call: NativeCall,
        /// How it ended.
        end: ToolEnd,
    },
    /// All tool calls of one response have ended.
    AfterBatch,
    /// The agent is about to stop.
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
    /// A subagent is about to stop.
    SubagentStop {
        /// Its last text.
        response: Option<String>,
    },
    /// The history is about to be replaced by a summary.
    PreCompact(Compaction),
    /// The history was replaced by a summary.
    PostCompact(Compaction),
    /// The session ends.
    SessionEnd {
        /// Why, in the host's word.
        reason: Option<String>,
    },
    /// Nothing that concerns hooks, although the host fired the event.
    Nothing,
}

/// A compaction of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// What caused it.
    pub trigger: CompactTrigger,
    /// The size of the history at this moment, in tokens, if the host gives it.
    pub tokens: Option<u64>,
}

impl From<CompactTrigger> for Compaction {
    /// A compaction of a history whose size is not known.
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
    /// Whether the host runs the call without asking the user, as far as its payload tells.
    pub unasked: bool,
}

/// How a tool ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolEnd {
    /// Whether it succeeded.
    pub outcome: Outcome,
    /// The result in the host's own form; null if the host gives none.
    pub result: Value,
    /// The text that the model reads, if the host gives it as a text of its own.
    pub output: Option<String>,
    /// The exit code of a command, if the host gives it.
    pub exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
}

/// Whether a tool succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It did.
    Success,
    /// It failed; this is the error in the host's words.
    Failure(String),
    /// The host does not tell.
    Unknown,
}

impl ToolEnd {
    /// The end of a tool with this outcome and native result.
    pub fn new(outcome: Outcome, result: Value) -> Self {
        Self { outcome, result, output: None, exit_code: None, duration_ms: None }
    }
}
