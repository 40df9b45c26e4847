//! Transcripts of Gemini CLI: `tmp/PROJECT/chats/session-*.jsonl`, subagents in `chats/SESSION/`, older ones as one JSON
//! file. Measured with 0.61.0. A message is written again when its calls have ended.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::untrusted_file;

use super::json_lines::{self, MAX_LINE};
use super::{TranscriptReader, TranscriptSession, directory, native, text};
use crate::places::{HostPlaces, files_below};
use crate::recorded::{CallEnd, DenialSource};

/// Messages without calls.
const OTHERS: [&str; 6] = ["user", "info", "error", "warning", "about", "quit"];
/// Maximum length of the file with the path of a project, in bytes.
const MAX_PATH: u64 = 8 << 10;

pub(super) const READER: TranscriptReader = TranscriptReader::new("gemini", files, read);

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let home = places.directory("GEMINI_CLI_HOME", "").join(".gemini/tmp");
    files_below(&home, 3, |path| {
        let is_chat = path.components().any(|part| part.as_os_str() == "chats");
        let extension = path.extension().and_then(|extension| extension.to_str());
        is_chat && matches!(extension, Some("jsonl" | "json"))
    })
}

fn read(session: &mut TranscriptSession<'_, '_>) -> io::Result<()> {
    session.cwd = project(&session.file);
    if session.file.extension().is_none_or(|extension| extension != "json") {
        return json_lines::read(session, read_line);
    }
    let bytes = untrusted_file::read(&session.file, MAX_LINE as u64)?;
    let whole: Value = serde_json::from_slice(&bytes)?;
    read_line(session, &whole);
    read_messages(session, &whole["messages"]);
    Ok(())
}

/// Returns the root of the project, which a file beside the chats contains.
fn project(file: &Path) -> Option<PathBuf> {
    let mut directories = file.ancestors().skip(1).take(4);
    let chats = directories.find(|path| path.file_name().is_some_and(|name| name == "chats"))?;
    let root = chats.with_file_name(".project_root");
    let text = untrusted_file::first_line(&root, MAX_PATH).ok()?;
    Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute())
}

fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    if let Some(id) = line["sessionId"].as_str() {
        begin(session, id, line);
    } else if line["$set"].is_object() {
        read_messages(session, &line["$set"]["messages"]);
    } else if line["$rewindTo"].is_null() {
        read_message(session, line);
    }
}

fn begin(session: &mut TranscriptSession<'_, '_>, id: &str, line: &Value) {
    id.clone_into(&mut session.id);
    session.cwd = session.cwd.take().or_else(|| directory(&line["directories"][0]));
    if line["kind"] == "subagent" {
        let parent = session.file.parent().and_then(Path::file_name);
        let parent = parent.map(|name| name.to_string_lossy().into_owned());
        session.agent = Some(std::mem::replace(&mut session.id, parent.unwrap_or_default()));
    }
}

fn read_messages(session: &mut TranscriptSession<'_, '_>, messages: &Value) {
    for message in messages.as_array().into_iter().flatten() {
        read_message(session, message);
    }
}

fn read_message(session: &mut TranscriptSession<'_, '_>, message: &Value) {
    match text(message, "type") {
        "gemini" => {}
        kind if OTHERS.contains(&kind) => return,
        kind => return session.add_unknown(kind),
    }
    for call in message["toolCalls"].as_array().into_iter().flatten() {
        let native = native(&call["id"], text(call, "name"), &call["args"]);
        session.begin(&message["timestamp"], native);
        if let Some(end) = end(call) {
            session.calls.end(text(call, "id"), end);
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
