//! The conversation of a session in Claude Code's format, for hooks that are written for Claude Code and read `transcript_path` (B52).
//!
//! It contains what the host's events show: messages of the user, tool calls, their results, and the last text of each turn. It is a
//! private copy: only hooks read it, and what they write to it changes nothing. It is removed with the files of the session.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tenter_base::{excerpt, private_dir, replace_file, untrusted_file};
use tenter_protocol::claude_code::{results, tools};
use tenter_protocol::{Object, ToolCall};

use super::Visit;
use crate::digest::digest;
use crate::occurrence::{Detail, NativeCall, ToolEnd};
use crate::{tool_call, tool_result};

/// Maximum size of the file, in bytes. When it is reached, the first half is dropped.
const MAX_FILE: u64 = 4 << 20;
/// Maximum size of one text in it, in bytes: its beginning and its end are kept.
const MAX_TEXT: usize = 64 << 10;

impl Visit<'_> {
    /// Adds the event to the conversation and names its file in payloads, if a hook of the session is written for Claude Code and
    /// the host has no such file itself.
    pub(super) fn record_conversation(&mut self) {
        if self.host_facts.transcript_path.is_some() || !self.is_recorded() {
            return;
        }
        let (message, file) = (self.conversation_message(), self.conversation_file());
        let line = message.map(|message| self.line(&message)).unwrap_or_default();
        // Without the file, hooks lack one field, and no call is stopped for that.
        let _ = append(&file, &line);
        self.name_conversation();
    }

    /// Names the file of a recorded conversation in payloads.
    pub(super) fn name_conversation(&mut self) {
        let file = self.conversation_file();
        let is_missing = self.host_facts.transcript_path.is_none();
        if is_missing && self.session.get().recorded && file.is_file() {
            let path = Some(file.to_string_lossy().into_owned());
            Arc::make_mut(&mut self.host_facts).transcript_path = path;
        }
    }

    /// Returns whether the session is recorded: that is decided whenever hooks are loaded, as at its start, and holds until it ends.
    fn is_recorded(&mut self) -> bool {
        if self.session.get().recorded {
            return true;
        }
        let catalog = self.engine.catalog();
        let is_needed = catalog.hooks().iter().any(|hook| hook.options.claude_code.is_some());
        is_needed
            && self.session.update(|state| {
                state.recorded = true;
                true
            })
    }

    fn conversation_file(&self) -> PathBuf {
        let name = digest(&[self.visitor.host.id, &self.occurrence.session]);
        self.visitor.directories.state.join(format!("bridge/conversations/{name}.jsonl"))
    }

    /// Returns the message that the event adds; `None` if it adds none. Subagents have conversations of their own, which are not
    /// recorded.
    fn conversation_message(&self) -> Option<Value> {
        if self.occurrence.agent.is_some() {
            return None;
        }
        match &self.occurrence.detail {
            Detail::Prompt { text, .. } => {
                Some(json!({"role": "user", "content": excerpt::ends(text, MAX_TEXT)}))
            }
            Detail::BeforeTool(call) => {
                Some(json!({"role": "assistant", "content": [self.tool_use(call)]}))
            }
            Detail::AfterTool { call, end } => {
                Some(json!({"role": "user", "content": [self.tool_result(call, end)]}))
            }
            Detail::Stop { response: Some(text) }
            | Detail::StopFailure { response: Some(text) } => {
                let text = excerpt::ends(text, MAX_TEXT);
                Some(json!({"role": "assistant", "content": [{"type": "text", "text": text}]}))
            }
            _ => None,
        }
    }

    fn tool_use(&self, native: &NativeCall) -> Value {
        let call = tool_call::canonical(self.visitor.host, native);
        let (name, input) = claude_code_call(&call);
        json!({"type": "tool_use", "id": call.id, "name": name, "input": input})
    }

    fn tool_result(&self, native: &NativeCall, end: &ToolEnd) -> Value {
        let call = tool_call::canonical(self.visitor.host, native);
        let time = tenter_base::rfc3339((self.visitor.clock)());
        let result = tool_result::canonical(&call, end, &self.occurrence.cwd, time);
        let is_error = result.is_failure();
        let text = if is_error { results::error(&result) } else { result.text() };
        let content = excerpt::ends(&text, MAX_TEXT);
        json!({"type": "tool_result", "tool_use_id": call.id, "content": content, "is_error": is_error})
    }

    /// Returns a line of the file, with its line feed.
    fn line(&self, message: &Value) -> String {
        let time = tenter_base::rfc3339((self.visitor.clock)());
        let session = &self.occurrence.session;
        let line = json!({
            "type": message["role"],
            "message": message,
            "uuid": digest(&[session, &time, &message.to_string()]),
            "sessionId": session,
            "cwd": self.occurrence.cwd,
            "timestamp": time,
            "isSidechain": false,
        });
        format!("{line}\n")
    }
}

/// Returns a call in the names of Claude Code: in its own names where Claude Code has no such tool.
fn claude_code_call(call: &ToolCall) -> (&str, Object) {
    let tool = tools::counterpart(&call.name);
    let field = |(name, value): (&String, &Value)| {
        let name = tool.map_or(name.as_str(), |tool| tool.native_field(name));
        let text = value.as_str().map(|text| json!(excerpt::ends(text, MAX_TEXT)));
        (name.to_owned(), text.unwrap_or_else(|| value.clone()))
    };
    (tool.map_or(&call.name, |tool| tool.name), call.input.iter().map(field).collect())
}

/// Appends a line to the file, which is created if it is missing.
fn append(path: &std::path::Path, line: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), private_dir::enforce)?;
    let mut file: File = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    // One write: processes of one session may append at the same time.
    file.write_all(line.as_bytes())?;
    if file.metadata()?.len() <= MAX_FILE {
        return Ok(());
    }
    let text = untrusted_file::read_prefix(path, 2 * MAX_FILE)?;
    let (_, last) = text.split_at(text.len() / 2);
    let start = last.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    replace_file::replace_with_mode(path, &last[start..], Some(0o600)).map(drop)
}
