//! The transcripts of each agent, one file per agent.

mod claude_code;
mod cline;
mod codex;
mod copilot;
mod gemini;
mod journal;
mod json_lines;
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

use crate::collector::CallCollector;
use crate::places::HostPlaces;
use crate::recorded::{CallEnd, RecordedCall};

/// Finds and reads the transcripts of one agent.
pub struct TranscriptReader {
    /// The id of the agent.
    pub host: &'static str,
    /// Set if it is read only if it is asked for by name.
    pub is_second_choice: bool,
    /// Lists the transcripts.
    pub files: fn(&HostPlaces) -> Vec<PathBuf>,
    /// Reads the calls of a transcript, one record after another. Kinds of records that it does not know are counted.
    read: fn(&mut TranscriptSession<'_, '_>) -> io::Result<()>,
}

impl TranscriptReader {
    const fn new(
        host: &'static str,
        files: fn(&HostPlaces) -> Vec<PathBuf>,
        read: fn(&mut TranscriptSession<'_, '_>) -> io::Result<()>,
    ) -> Self {
        Self { host, is_second_choice: false, files, read }
    }

    /// Reads the calls of a transcript.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, file: &Path, calls: &mut CallCollector<'_>) -> io::Result<()> {
        let (id, agent, cwd) = Default::default();
        let host = self.host;
        (self.read)(&mut TranscriptSession {
            host,
            file: file.into(),
            id,
            agent,
            cwd,
            line: 0,
            calls,
        })
    }
}

/// Every reader, in the order of the agents.
pub const ALL: &[TranscriptReader] = &[
    claude_code::READER,
    codex::READER,
    gemini::READER,
    opencode::OPENCODE,
    copilot::READER,
    qwen::READER,
    kimi_code::READER,
    cline::READER,
    pi::READER,
    opencode::KILO,
    journal::READER,
];

/// Returns the reader of an agent.
pub fn find(host: &str) -> Option<&'static TranscriptReader> {
    ALL.iter().find(|reader| reader.host == host)
}

/// The session of a transcript, as far as the transcript was read.
struct TranscriptSession<'s, 'c> {
    host: &'static str,
    file: Arc<Path>,
    id: String,
    agent: Option<String>,
    cwd: Option<PathBuf>,
    /// The number of the line that is read.
    line: u64,
    calls: &'s mut CallCollector<'c>,
}

impl TranscriptSession<'_, '_> {
    /// Returns a call of the session, recorded in its line.
    fn call(&self, time: &Value, native: NativeCall) -> RecordedCall {
        RecordedCall {
            host: self.host,
            session: self.id.clone(),
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            time: self::time(time),
            end: CallEnd::Unknown,
            is_cut: native.has_unreadable_input,
            native,
            file: Arc::clone(&self.file),
            line: self.line,
        }
    }

    /// Notes the beginning of a call.
    fn begin(&mut self, time: &Value, native: NativeCall) {
        self.calls.begin(self.call(time, native));
    }

    /// Counts a record of a kind that is not known.
    fn add_unknown(&mut self, kind: &str) {
        self.calls.counts.add_unknown(kind);
    }
}

/// Returns a call of this tool with this id, if it is a text, and input.
fn native(id: &Value, tool: &str, input: &Value) -> NativeCall {
    NativeCall {
        id: id.as_str().map(str::to_owned),
        tool: tool.to_owned(),
        ..NativeCall::with_input(input)
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
