//! Transcripts of Gemini CLI: `tmp/PROJECT/chats/session-*.jsonl`, subagents in `chats/SESSION/`, older ones as one JSON
//! file. Measured with 0.61.0. A message is written again when its calls have ended.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::untrusted_file;

use super::{TranscriptReader, TranscriptSession, directory, native, object, text, time};
use crate::collector::CallCollector;
use crate::json_lines::{self, MAX_LINE};
use crate::places::{HostPlaces, files_below};
use crate::recorded::{CallEnd, DenialSource};

/// Messages without calls.
const OTHERS: [&str; 6] = ["user", "info", "error", "warning", "about", "quit"];
/// Maximum length of the file with the path of a project, in bytes.
const MAX_PATH: u64 = 8 << 10;

pub(super) struct Gemini;

impl TranscriptReader for Gemini {
    fn host(&self) -> &'static str {
        "gemini"
    }

    fn files(&self, places: &HostPlaces) -> Vec<PathBuf> {
        let home = places.directory("GEMINI_CLI_HOME", "").join(".gemini/tmp");
        files_below(&home, 3, |path| {
            let is_chat = path.components().any(|part| part.as_os_str() == "chats");
            let extension = path.extension().and_then(|extension| extension.to_str());
            is_chat && matches!(extension, Some("jsonl" | "json"))
        })
    }

    fn read(&self, file: &Path, calls: &mut CallCollector<'_>) -> io::Result<()> {
        let mut session = TranscriptSession::new(self.host(), file);
        session.cwd = project(file);
        if file.extension().is_some_and(|extension| extension == "json") {
            let bytes = untrusted_file::read(file, MAX_LINE as u64)?;
            let whole: Value = serde_json::from_slice(&bytes)?;
            read_line(&mut session, 0, &whole, calls);
            read_messages(&session, 0, &whole["messages"], calls);
            return Ok(());
        }
        json_lines::read(file, calls, |number, line, calls| {
            read_line(&mut session, number, line, calls);
        })
    }
}

/// Returns the root of the project, which a file beside the chats contains.
fn project(file: &Path) -> Option<PathBuf> {
    let mut directories = file.ancestors().skip(1).take(4);
    let chats = directories.find(|path| path.file_name().is_some_and(|name| name == "chats"))?;
    let root = chats.with_file_name(".project_root");
    let text = untrusted_file::first_line(&root, MAX_PATH).ok()?;
    Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute())
}

fn read_line(
    session: &mut TranscriptSession,
    number: u64,
    line: &Value,
    calls: &mut CallCollector<'_>,
) {
    if let Some(id) = line["sessionId"].as_str() {
        begin(session, id, line);
    } else if line["$set"].is_object() {
        read_messages(session, number, &line["$set"]["messages"], calls);
    } else if line["$rewindTo"].is_null() {
        read_message(session, number, line, calls);
    }
}

fn begin(session: &mut TranscriptSession, id: &str, line: &Value) {
    id.clone_into(&mut session.id);
    session.cwd = session.cwd.take().or_else(|| directory(&line["directories"][0]));
    if line["kind"] == "subagent" {
        let parent = session.file.parent().and_then(Path::file_name);
        let parent = parent.map(|name| name.to_string_lossy().into_owned());
        session.agent = Some(std::mem::replace(&mut session.id, parent.unwrap_or_default()));
    }
}

fn read_messages(
    session: &TranscriptSession,
    number: u64,
    messages: &Value,
    calls: &mut CallCollector<'_>,
) {
    for message in messages.as_array().into_iter().flatten() {
        read_message(session, number, message, calls);
    }
}

fn read_message(
    session: &TranscriptSession,
    number: u64,
    message: &Value,
    calls: &mut CallCollector<'_>,
) {
    match text(message, "type") {
        "gemini" => {}
        kind if OTHERS.contains(&kind) => return,
        kind => return calls.counts.add_unknown(kind),
    }
    for call in message["toolCalls"].as_array().into_iter().flatten() {
        let time = time(&message["timestamp"]);
        let native = native(&call["id"], text(call, "name"), object(&call["args"]));
        calls.begin(session.call(number, time, native));
        if let Some(end) = end(call) {
            calls.end(text(call, "id"), end);
        }
    }
}

/// Returns the end of a call; `None` if it has not ended.
fn end(call: &Value) -> Option<CallEnd> {
    let response = &call["result"][0]["functionResponse"]["response"];
    Some(match text(call, "status") {
        "success" => CallEnd::Succeeded,
        "cancelled" => CallEnd::Denied(DenialSource::User),
        "error" => match text(response, "error") {
            error if error.starts_with("Tool execution blocked") => {
                CallEnd::Denied(DenialSource::Hook)
            }
            error if error.contains("denied by policy") => CallEnd::Denied(DenialSource::Rule),
            _ => CallEnd::Failed,
        },
        _ => return None,
    })
}
