//! The MCP servers of a client: `mcpServers` in `.claude.json` of the home directory. Each call starts the server anew.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::tools::FakeToolEnd;

/// The beginning of the names of servers' tools.
const PREFIX: &str = "mcp__";

/// Returns whether a tool is of an MCP server.
pub(super) fn is_tool(tool: &str) -> bool {
    tool.starts_with(PREFIX)
}

/// Runs a tool of an MCP server.
pub(super) fn run(home: &Path, tool: &str, input: &Value) -> FakeToolEnd {
    match call(home, tool, input) {
        Some(result) => {
            let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
            FakeToolEnd { text, response: Some(result["content"].clone()) }
        }
        None => FakeToolEnd::failure(format!("No such tool available: {tool}")),
    }
}

#[expect(clippy::disallowed_methods, reason = "a client starts its servers itself")]
fn call(home: &Path, tool: &str, input: &Value) -> Option<Value> {
    let (server, name) = tool.strip_prefix(PREFIX)?.split_once("__")?;
    let settings = fs::read_to_string(home.join(".claude.json")).ok()?;
    let settings: Value = serde_json::from_str(&settings).ok()?;
    let program = settings["mcpServers"][server]["command"].as_str()?;
    let piped = Stdio::piped;
    let mut child = Command::new(program).stdin(piped()).stdout(piped()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let mut lines = BufReader::new(child.stdout.take()?).lines();
    let mut request = |id: u32, method: &str, params: Value| -> Option<Value> {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(stdin, "{message}").ok()?;
        let response: Value = serde_json::from_str(&lines.next()?.ok()?).ok()?;
        response.get("result").cloned()
    };
    let version = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
    let tools = request(1, "initialize", version).and_then(|_| request(2, "tools/list", json!({})));
    let is_listed = tools?["tools"].as_array()?.iter().any(|tool| tool["name"] == name);
    let result =
        is_listed.then(|| request(3, "tools/call", json!({"name": name, "arguments": input})));
    drop(stdin);
    child.wait().ok()?;
    result.flatten()
}
