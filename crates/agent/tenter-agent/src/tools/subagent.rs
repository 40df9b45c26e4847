//! `subagent`: delegates a task to another agent. The session runs it.

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_protocol::event::Subagent;
use tenter_protocol::tool_metadata;

use super::{Effect, Report, SubagentError, ToolContext, ToolError, TypedTool};
use tenter_protocol::ToolResult;

/// The tool's name.
pub(crate) const SUBAGENT: &str = "subagent";

pub(super) struct SubagentTool;

/// A task for another agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What it is to find out or do. It does not see this conversation, so include everything that it needs.
    question: String,
    /// A short name for it.
    #[serde(default)]
    name: Option<String>,
    /// What kind of agent it is, for instance "researcher" or "reviewer".
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

impl TypedTool for SubagentTool {
    const NAME: &'static str = SUBAGENT;
    const DESCRIPTION: &'static str = "Delegate a task to another agent, which works on it independently with the same tools and \
        hooks, and returns one text. Good for searches whose details you do not need. Several can run at once.";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Outcome;

    fn perform(&self, input: Input, context: &ToolContext<'_>) -> Result<Outcome, ToolError> {
        let subagents =
            context.subagents.ok_or_else(|| ToolError::new("a subagent cannot start subagents"))?;
        let described = Subagent {
            name: input.name.unwrap_or_else(|| "subagent".to_owned()),
            kind: input.kind.unwrap_or_else(|| "general".to_owned()),
            task: input.question,
        };
        match subagents.run(&described) {
            Ok(answer) => Ok(Outcome::Answered(tool_metadata::Subagent {
                question: described.task,
                response: answer.response,
                conversation_id: answer.conversation_id,
            })),
            Err(SubagentError::Blocked(reason)) => Ok(Outcome::Blocked(reason)),
            Err(error @ SubagentError::Failed(_)) => Err(ToolError::new(error.to_string())),
        }
    }
}

/// The outcome of a task.
pub(super) enum Outcome {
    Answered(tool_metadata::Subagent),
    /// The reason a hook gave becomes the subagent's result (R29).
    Blocked(String),
}

impl Report for Outcome {
    fn into_result(self, name: &str, timestamp: String) -> ToolResult {
        match self {
            Self::Answered(metadata) => ToolResult::success(name, &metadata, timestamp),
            Self::Blocked(reason) => ToolResult::blocked(name, &reason, timestamp),
        }
    }
}
