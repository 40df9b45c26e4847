//! The messages of a conversation: typed blocks with a role.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool_metadata::{Mcp, McpImage, Metadata as _};
use crate::{ToolCall, ToolResult};

/// The author of a message, as models see it.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, a hook on the user's behalf, or the tools.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// The reasoning of the model.
    Reasoning {
        /// The reasoning, as far as the provider shows it.
        text: String,
    },
    /// An image.
    Image(Image),
    /// A tool call of the model.
    ToolUse(ToolCall),
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The result, like `tool_output`.
        result: ToolResult,
    },
}

impl Block {
    /// Returns a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Returns the block as text, with tool calls and results rendered.
    pub fn content(&self) -> String {
        match self {
            Self::Text { text } => text.clone(),
            Self::Reasoning { text } => format!("Thinking: {text}"),
            Self::Image(image) => image.to_string(),
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

/// An image for the model.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The media type of the image, such as `image/png`.
    pub media_type: String,
    /// The bytes, or where they are.
    #[serde(flatten)]
    pub source: ImageSource,
}

/// The bytes of an image, or where they are.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageSource {
    /// The image as base64, instead of `url`.
    Data(String),
    /// The address of the image, instead of `data`.
    Url(String),
}

impl Image {
    /// Returns the images in a tool's result, which the model sees besides its text.
    pub fn all_of(result: &ToolResult) -> Vec<Self> {
        let is_mcp = result.metadata_type.as_deref() == Some(Mcp::TYPE);
        let Some(metadata) = result.metadata.as_ref().filter(|_| is_mcp) else { return Vec::new() };
        let mcp = serde_json::from_value::<Mcp>(Value::Object(metadata.clone()));
        let images = mcp.map(|mcp| mcp.images).unwrap_or_default().into_iter();
        let image = |image: McpImage| Self {
            media_type: image.media_type,
            source: ImageSource::Data(image.data),
        };
        images.map(image).collect()
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            ImageSource::Data(data) => {
                write!(f, "[image: {}, {} bytes]", self.media_type, data.len() / 4 * 3)
            }
            ImageSource::Url(url) => write!(f, "[image: {url}]"),
        }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its author.
    pub role: Role,
    /// Its content.
    pub blocks: Vec<Block>,
    /// The message in the provider's own form, if it came from one, including the signature of its reasoning. It is
    /// used only while `blocks` is unchanged. Hooks do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Value>,
}

impl Message {
    /// Creates a message of `blocks` that comes from no provider.
    pub fn new(role: Role, blocks: Vec<Block>) -> Self {
        Self { role, blocks, native: None }
    }

    /// Returns a user message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Block::text(text)])
    }

    /// Returns an assistant message of one text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Block::text(text)])
    }

    /// Returns the texts of the message, reasoning and tools left out.
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

    /// Returns the whole message as text, tool calls and results rendered: the documents' `content` (R57).
    pub fn content(&self) -> String {
        let parts: Vec<String> = self.blocks.iter().map(Block::content).collect();
        parts.join("\n")
    }

    /// Returns the tool calls of the message.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// Returns true if the message has no content.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(Block::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;
    use serde_json::json;

    #[test]
    fn content_renders_tools_as_text() {
        let call = ToolCall {
            id: "1".into(),
            name: "bash".into(),
            input: json!({"command": "ls"}).as_object().unwrap().clone(),
        };
        let message =
            Message::new(Role::Assistant, vec![Block::text("Looking."), Block::ToolUse(call)]);
        assert_eq!(message.content(), "Looking.\nUsing tool bash: {\"command\": \"ls\"}");
        assert_eq!(message.plain_text(), "Looking.");
    }

    #[test]
    fn images_keep_their_wire_form() {
        let source = ImageSource::Url("https://example.org/cat.png".into());
        let block = Block::Image(Image { media_type: "image/png".into(), source });
        let wire = json!({"type": "image", "media_type": "image/png", "url": "https://example.org/cat.png"});
        assert_eq!(serde_json::to_value(&block).unwrap(), wire);
        assert_eq!(serde_json::from_value::<Block>(wire).unwrap(), block);
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
