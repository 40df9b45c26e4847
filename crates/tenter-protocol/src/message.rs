//! A conversation's messages: typed blocks under a role.

use serde::{Deserialize, Serialize};

use crate::{Object, ToolCall, ToolResult};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person, a hook on the person's behalf, or the tools.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought.
    Reasoning {
        /// The thought, as far as the provider shows it.
        text: String,
        /// What the provider wants back unchanged, whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<Object>,
    },
    /// The model calls a tool.
    ToolUse(ToolCall),
    /// What came of a call.
    ToolResult {
        /// The call's id.
        call_id: String,
        /// The result.
        result: ToolResult,
    },
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The block as text: tool calls and results rendered.
    pub fn content(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::Reasoning { text, .. } => format!("Thinking: {text}"),
            Self::ToolUse(call) => {
                format!("Using tool {}: {}", call.name, crate::json::to_string(&call.input))
            }
            Self::ToolResult { result, .. } => {
                format!("Result of {}: {}", result.tool_name, result.text())
            }
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Text { text } if text.trim().is_empty())
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub blocks: Vec<Block>,
}

impl Message {
    /// A user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, blocks: vec![Block::text(text)] }
    }

    /// An assistant message of one text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, blocks: vec![Block::text(text)] }
    }

    /// The texts of the message, reasoning and tools left out.
    pub fn plain_text(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    /// The whole message as text, tool calls and results rendered: the documents' `content` (R57).
    pub fn content(&self) -> String {
        let parts: Vec<String> = self.blocks.iter().map(Block::content).collect();
        parts.join("\n")
    }

    /// The tool calls of the message.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// Whether the message says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(Block::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn content_renders_tools_as_text() {
        let call = ToolCall {
            id: "1".into(),
            name: "bash".into(),
            input: json!({"command": "ls"}).as_object().unwrap().clone(),
        };
        let message = Message {
            role: Role::Assistant,
            blocks: vec![Block::text("Looking."), Block::ToolUse(call)],
        };
        assert_eq!(message.content(), "Looking.\nUsing tool bash: {\"command\": \"ls\"}");
        assert_eq!(message.plain_text(), "Looking.");
    }

    #[test]
    fn blocks_keep_their_wire_form() {
        let block =
            Block::ToolUse(ToolCall { id: "1".into(), name: "bash".into(), input: Object::new() });
        assert_eq!(
            serde_json::to_value(block).unwrap(),
            json!({"type": "tool_use", "id": "1", "name": "bash", "input": {}})
        );
    }
}
