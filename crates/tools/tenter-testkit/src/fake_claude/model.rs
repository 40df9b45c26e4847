//! The model of a client: requests of Anthropic's Messages.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

/// The tools that are offered.
const TOOLS: [&str; 4] = ["Bash", "Write", "Agent", "mcp__scratch__touch"];

/// A reply of the model.
#[derive(Debug)]
pub(super) struct ReceivedReply {
    /// Its blocks.
    pub(super) content: Value,
    /// The number of tokens that it read.
    pub(super) input_tokens: u64,
}

impl ReceivedReply {
    /// Returns its text.
    pub(super) fn text(&self) -> String {
        let blocks = super::hooks::elements(&self.content).iter();
        blocks.filter_map(|block| block["text"].as_str()).collect()
    }

    /// Returns the calls of tools.
    pub(super) fn calls(&self) -> Vec<Value> {
        let blocks = super::hooks::elements(&self.content).iter();
        blocks.filter(|block| block["type"] == "tool_use").cloned().collect()
    }
}

/// Sends a conversation to the model at `url`.
///
/// # Errors
/// The server cannot be reached, or reports an error.
pub(super) fn ask(url: &str, messages: &[Value]) -> Result<ReceivedReply, String> {
    let tools = TOOLS.map(|name| json!({"name": name, "input_schema": {"type": "object"}}));
    let body = json!({
        "model": "claude-opus-5-5",
        "max_tokens": 32_000,
        "system": "You are an agent.",
        "messages": messages,
        "tools": tools,
    });
    let reply = post(url, &body.to_string()).map_err(|error| format!("API Error: {error}"))?;
    let reply: Value =
        serde_json::from_str(&reply).map_err(|error| format!("API Error: {error}: {reply}"))?;
    if !reply["content"].is_array() {
        return Err(format!("API Error: {reply}"));
    }
    let count = |name: &str| reply["usage"][name].as_u64().unwrap_or_default();
    let names = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let input_tokens = names.into_iter().map(count).sum();
    Ok(ReceivedReply { content: reply["content"].clone(), input_tokens })
}

/// Returns the body of the response to a request.
fn post(url: &str, body: &str) -> std::io::Result<String> {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address)?;
    let length = body.len();
    write!(
        stream,
        "POST /v1/messages HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nx-api-key: none\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}
