//! The transcripts of each agent, one file per agent.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod gemini;
mod journal;
mod kimi_code;
pub(crate) mod opencode;
mod pi;
mod qwen;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;
use tenter_bridge::occurrence::NativeCall;
use tenter_protocol::Object;

use crate::collector::CallCollector;
use crate::json_lines;
use crate::places::HostPlaces;
use crate::recorded::{CallEnd, RecordedCall};

/// Finds and reads the transcripts of one agent.
pub trait TranscriptReader: Sync {
    /// Returns the id of the agent.
    fn host(&self) -> &'static str;

    /// Returns true if it is read only if it is asked for by name.
    fn is_second_choice(&self) -> bool {
        false
    }

    /// Lists the transcripts.
    fn files(&self, places: &HostPlaces) -> Vec<PathBuf>;

    /// Reads the calls of a transcript, one record after another. Kinds of records that it does not know are counted.
    ///
    /// # Errors
    /// The file cannot be read.
    fn read(&self, file: &Path, calls: &mut CallCollector<'_>) -> io::Result<()>;
}

/// Every reader, in the order of the agents.
pub const ALL: &[&dyn TranscriptReader] = &[
    &claude_code::ClaudeCode,
    &codex::Codex,
    &gemini::Gemini,
    &opencode::OpenCode { host: "opencode" },
    &copilot::Copilot,
    &qwen::Qwen,
    &kimi_code::KimiCode,
    &cline::Cline,
    &pi::Pi,
    &opencode::OpenCode { host: "kilo" },
    &journal::Journal,
];

/// Returns the reader of an agent.
pub fn find(host: &str) -> Option<&'static dyn TranscriptReader> {
    ALL.iter().find(|reader| reader.host() == host).copied()
}

/// The session of a transcript, as far as the transcript was read.
#[derive(Debug, Clone)]
struct TranscriptSession {
    host: &'static str,
    file: Arc<Path>,
    id: String,
    agent: Option<String>,
    cwd: Option<PathBuf>,
}

impl TranscriptSession {
    fn new(host: &'static str, file: &Path) -> Self {
        Self { host, file: file.into(), id: String::new(), agent: None, cwd: None }
    }

    /// Returns a call of the session, recorded in a line.
    fn call(&self, line: u64, time: Option<Timestamp>, native: NativeCall) -> RecordedCall {
        RecordedCall {
            host: self.host,
            session: self.id.clone(),
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            time,
            native,
            end: CallEnd::Unknown,
            is_cut: false,
            file: Arc::clone(&self.file),
            line,
        }
    }
}

/// Reads a line of a transcript, which has a number.
type LineReader = fn(&mut TranscriptSession, u64, &Value, &mut CallCollector<'_>);

/// Reads a transcript of JSON lines.
fn read_lines(
    host: &'static str,
    file: &Path,
    calls: &mut CallCollector<'_>,
    read_line: LineReader,
) -> io::Result<()> {
    let mut session = TranscriptSession::new(host, file);
    json_lines::read(file, calls, |number, line, calls| {
        read_line(&mut session, number, line, calls);
    })
}

/// Returns a call with the id in a field; `None` if it is no text.
fn native(id: &Value, tool: &str, input: Object) -> NativeCall {
    NativeCall {
        id: id.as_str().map(str::to_owned),
        tool: tool.to_owned(),
        input,
        ..NativeCall::default()
    }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        _ => None,
    }
}

fn directory(value: &Value) -> Option<PathBuf> {
    value.as_str().map(PathBuf::from).filter(|path| path.is_absolute())
}

fn object(value: &Value) -> Object {
    value.as_object().cloned().unwrap_or_default()
}

/// Reads an object from JSON within JSON.
fn object_in(text: &str) -> Object {
    serde_json::from_str(text).unwrap_or_default()
}
