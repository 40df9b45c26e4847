//! Metadata of tools of MCP servers.

use serde::{Deserialize, Serialize};

use super::{Metadata, is_zero};

/// The result of a tool of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mcp {
    /// The server's name.
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// The text; head and tail if there was too much.
    pub output: String,
    /// The images, which the model sees after the results of all calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<McpImage>,
    /// Number of bytes omitted from the middle of the output.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_bytes: u64,
}

/// An image in the result of a tool of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct McpImage {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
}

impl Metadata for Mcp {
    const TYPE: &'static str = "mcp";
    const MAIN: &'static [&'static str] = &["output", "images"];
    fn text(&self) -> String {
        let images = self.images.iter().map(|image| {
            format!("[image: {}, {} bytes]", image.media_type, image.data.len() / 4 * 3)
        });
        let text = Some(self.output.clone()).filter(|text| !text.is_empty());
        text.into_iter().chain(images).collect::<Vec<_>>().join("\n")
    }
}
