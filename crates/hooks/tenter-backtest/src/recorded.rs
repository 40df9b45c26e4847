//! A tool call as a transcript records it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use tenter_bridge::hosts;
use tenter_bridge::occurrence::NativeCall;
use tenter_protocol::ToolCall;

/// A tool call in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The id of the agent, such as `claude-code`.
    pub host: &'static str,
    /// The agent's id of the session.
    pub session: String,
    /// The subagent that made the call; `None` for the main agent.
    pub agent: Option<String>,
    /// The working directory; `None` if the transcript does not say.
    pub cwd: Option<PathBuf>,
    /// The time of the call; `None` if the transcript does not say.
    pub time: Option<Timestamp>,
    /// The call in the agent's own names.
    pub native: NativeCall,
    /// The end of the call.
    pub end: CallEnd,
    /// True if parts of the input are cut or masked, so that no hook can judge it.
    pub is_cut: bool,
    /// The file that records it.
    pub file: Arc<Path>,
    /// The number of the line in the file; 0 if it has no lines.
    pub line: u64,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallEnd {
    /// The transcript does not say.
    #[default]
    Unknown,
    /// It succeeded.
    Succeeded,
    /// The user was asked, allowed it, and it ran.
    Approved,
    /// It failed, or was interrupted.
    Failed,
    /// It did not run.
    Denied(DenialSource),
}

/// The source of a denial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DenialSource {
    /// The user.
    User,
    /// A permission rule or the mode of the agent.
    Rule,
    /// A hook.
    Hook,
}

/// The id of Tenter's own agent.
pub const OWN_AGENT: &str = "tenter";

impl RecordedCall {
    /// Creates a call of Tenter's own agent, whose conversations are in the database `file`.
    pub fn own(
        session: &str,
        project: &Path,
        time: Option<Timestamp>,
        call: &ToolCall,
        file: &Path,
    ) -> Self {
        Self {
            host: OWN_AGENT,
            session: session.to_owned(),
            agent: None,
            cwd: Some(project.to_owned()),
            time,
            native: NativeCall {
                id: Some(call.id.clone()),
                tool: call.name.clone(),
                input: call.input.clone(),
                ..NativeCall::default()
            },
            end: CallEnd::Unknown,
            is_cut: false,
            file: file.into(),
            line: 0,
        }
    }

    /// Returns the call in Tenter's names, as hooks read it in this agent.
    pub fn tool_call(&self) -> ToolCall {
        match hosts::find(self.host) {
            Some(host) => host.canonical_call(&self.native),
            None => ToolCall {
                id: self.native.id.clone().unwrap_or_default(),
                name: self.native.tool.clone(),
                input: self.native.input.clone(),
            },
        }
    }

    /// Returns the text of the call for listings: the command, the path, or the whole input.
    pub fn text(&self) -> String {
        text_of(&self.tool_call())
    }

    /// Returns whether the call was denied.
    pub fn was_denied(&self) -> bool {
        matches!(self.end, CallEnd::Denied(_))
    }
}

/// Returns the text of a call for listings: the command, the path, or the whole input.
fn text_of(call: &ToolCall) -> String {
    const FIELDS: [&str; 6] = ["file_path", "path", "command", "patch", "url", "pattern"];
    let field = |name: &&str| call.input.get(*name).and_then(Value::as_str);
    let text = FIELDS
        .iter()
        .find_map(field)
        .map_or_else(|| tenter_protocol::json::to_string(&call.input), str::to_owned);
    if call.name == "bash" { text } else { format!("{} {text}", call.name) }
}
