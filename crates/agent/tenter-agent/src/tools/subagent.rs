//! `subagent`: delegates a task to another agent. The session runs it.

use schemars::JsonSchema;
use serde::Deserialize;
use tenter_protocol::event::Subagent;
use tenter_protocol::{ToolResult, tool_metadata};

use super::{SubagentError, ToolContext, ToolEffect, ToolError, ToolReport, TypedTool};

/// The tool's name.
pub(crate) const SUBAGENT: &str = "subagent";

pub(super) struct SubagentTool;

/// A task for another agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SubagentInput {
    /// The task. The agent does not see this conversation, so include everything that it needs.
    question: String,
    /// A short name for it.
    #[serde(default)]
    name: Option<String>,
    /// The kind of agent, for instance "researcher" or "reviewer".
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

impl TypedTool for SubagentTool {
    const NAME: &'static str = SUBAGENT;
    const DESCRIPTION: &'static str = "Delegate a task to another agent, which works on it independently with the same tools and \
        hooks, and returns one text. Good for searches whose details you do not need. Several can run at once.";
    const EFFECT: ToolEffect = ToolEffect::Reads;
    type Input = SubagentInput;
    type Output = SubagentReport;

    fn perform(
        &self,
        input: SubagentInput,
        context: &ToolContext<'_>,
    ) -> Result<SubagentReport, ToolError> {
        let subagents =
            context.subagents.ok_or_else(|| ToolError::new("a subagent cannot start subagents"))?;
        let subagent = Subagent {
            name: input.name.unwrap_or_else(|| "subagent".to_owned()),
            kind: input.kind.unwrap_or_else(|| "general".to_owned()),
            task: input.question,
        };
        match subagents.run(&subagent) {
            Ok(answer) => Ok(SubagentReport::Answered(tool_metadata::Subagent {
                question: subagent.task,
                response: answer.response,
                conversation_id: answer.conversation_id,
            })),
            Err(SubagentError::Blocked(reason)) => Ok(SubagentReport::Blocked(reason)),
            Err(error @ SubagentError::Failed(_)) => Err(ToolError::new(error.to_string())),
        }
    }
}

/// The report of a task.
pub(super) enum SubagentReport {
    Answered(tool_metadata::Subagent),
    /// A hook's reason, which becomes the subagent's result (R29).
    Blocked(String),
}

impl ToolReport for SubagentReport {
    fn into_result(self, name: &str, timestamp: String) -> ToolResult {
        match self {
            Self::Answered(metadata) => ToolResult::success(name, &metadata, timestamp),
            Self::Blocked(reason) => ToolResult::blocked(name, &reason, timestamp),
        }
    }
}
