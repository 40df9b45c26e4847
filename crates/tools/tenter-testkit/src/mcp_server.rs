//! An MCP server as a bash script: it speaks the real protocol over stdio, and does what a test wants at each step, however wrong
//! that is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A server. By default it has one tool, `echo`, which returns the line of the call.
///
/// The snippets of bash can use `$line` (the message), `$id` (its id), `$0.log` (a file with all messages so far, one a line), `reply JSON` (the
/// result of the request), `text STRING` (the result of a call; the string needs no escapes in JSON), and `say JSON` (any message).
#[derive(Debug, Clone)]
pub struct McpServer {
    tools: Value,
    instructions: Option<String>,
    at_start: String,
    at_list: String,
    at_call: String,
}

impl Default for McpServer {
    fn default() -> Self {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        Self {
            tools: json!([{"name": "echo", "description": "Returns its input.", "inputSchema": schema}]),
            instructions: None,
            at_start: String::new(),
            at_list: String::new(),
            at_call: "text \"called with: ${line//\\\"/}\"".to_owned(),
        }
    }
}

impl McpServer {
    /// Returns a server with these tools.
    pub fn with_tools(tools: Value) -> Self {
        Self { tools, ..Self::default() }
    }

    /// Returns text about the tools for the model.
    #[must_use]
    pub fn instructions(self, text: &str) -> Self {
        Self { instructions: Some(text.to_owned()), ..self }
    }

    /// Runs `bash` before the first message is read.
    #[must_use]
    pub fn at_start(self, bash: &str) -> Self {
        Self { at_start: bash.to_owned(), ..self }
    }

    /// Runs `bash` before the list of tools is sent. The list is in `$tools`, which may be changed.
    #[must_use]
    pub fn at_list(self, bash: &str) -> Self {
        Self { at_list: bash.to_owned(), ..self }
    }

    /// Runs `bash` at a call.
    #[must_use]
    pub fn at_call(self, bash: &str) -> Self {
        Self { at_call: bash.to_owned(), ..self }
    }

    /// Writes the script to `path`.
    ///
    /// # Panics
    /// It cannot be written.
    pub fn install(&self, path: &Path) -> PathBuf {
        let mut greeting = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "test", "version": "1"},
        });
        if let Some(text) = &self.instructions {
            greeting["instructions"] = json!(text);
        }
        let in_quotes = |json: &Value| json.to_string().replace('\'', "'\\''");
        let script = format!(
            r#"#!/usr/bin/env bash
say() {{ printf '%s\n' "$1"; }}
reply() {{ say "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}}"; }}
text() {{ reply "{{\"content\":[{{\"type\":\"text\",\"text\":\"$1\"}}]}}"; }}
greeting='{greeting}'
tools='{tools}'
{at_start}
while IFS= read -r line; do
    printf '%s\n' "$line" >>"$0.log"
    id=
    [[ $line =~ \"id\":([0-9]+) ]] && id=${{BASH_REMATCH[1]}}
    case $line in
    *'"method":"initialize"'*) reply "$greeting" ;;
    *'"method":"tools/list"'*)
        {at_list}
        reply "{{\"tools\":$tools}}"
        ;;
    *'"method":"tools/call"'*)
        {at_call}
        ;;
    esac
done
"#,
            greeting = in_quotes(&greeting),
            tools = in_quotes(&self.tools),
            at_start = self.at_start,
            at_list = self.at_list,
            at_call = self.at_call,
        );
        let file_result = fs::create_dir_all(path.parent().unwrap_or(path))
            .and_then(|()| fs::write(path, script))
            .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)));
        file_result.unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        path.to_owned()
    }

    /// Returns the messages that the script at `path` received so far; none if it never started.
    pub fn received(path: &Path) -> String {
        let mut log = path.as_os_str().to_owned();
        log.push(".log");
        fs::read_to_string(log).unwrap_or_default()
    }
}
