//! Transcripts of Cline: `sessions/SESSION/SESSION.messages.json`, with the transcripts of its subagents beside it. Measured with 3.0.65. Each is one
//! JSON value, which is written anew for each message.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_base::untrusted_file;
use tenter_bridge::hosts;

use super::{TranscriptReader, TranscriptSession, directory, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::CallEnd;

/// Maximum size of a transcript, in bytes.
const MAX_SIZE: u64 = 64 << 20;
/// Maximum size of the description of a session, in bytes.
const MAX_DESCRIPTION: u64 = 1 << 20;
/// Blocks of messages without a call.
const OTHERS: [&str; 6] = ["document", "file", "image", "redacted_thinking", "text", "thinking"];

pub(super) const READER: TranscriptReader = TranscriptReader::new("cline", files, read);

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let data = places.directory("CLINE_DATA_DIR", ".cline/data");
    files_below(&data.join("sessions"), 1, |path| is_named(path, "", ".messages.json"))
}

/// Reads a transcript. The working directory is in the description of the session beside it.
fn read(session: &mut TranscriptSession<'_, '_>) -> io::Result<()> {
    let file = &session.file;
    let transcript: Value = serde_json::from_slice(&untrusted_file::read(file, MAX_SIZE)?)?;
    let origin = &transcript["origin"];
    let name = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let description = file.with_file_name(format!("{}.json", name.unwrap_or_default()));
    let description = untrusted_file::read(&description, MAX_DESCRIPTION).ok();
    let description: Option<Value> = description.and_then(|it| serde_json::from_slice(&it).ok());
    let own = text(&transcript, "sessionId");
    origin["parentThreadId"].as_str().unwrap_or(own).clone_into(&mut session.id);
    session.agent = origin["subagent"].as_str().map(str::to_owned);
    session.cwd = description.and_then(|description| directory(&description["cwd"]));
    for message in transcript["messages"].as_array().into_iter().flatten() {
        for block in message["content"].as_array().into_iter().flatten() {
            read_block(session, message, block);
        }
    }
    Ok(())
}

fn read_block(session: &mut TranscriptSession<'_, '_>, message: &Value, block: &Value) {
    match text(block, "type") {
        "tool_use" => {
            let native = native(&block["id"], text(block, "name"), &block["input"]);
            session.begin(&message["ts"], hosts::cline_call(native));
        }
        "tool_result" => session.calls.end(text(block, "tool_use_id"), end(block)),
        kind if OTHERS.contains(&kind) => {}
        kind => session.add_unknown(kind),
    }
}

/// Returns the end of a call, which may have several parts.
fn end(block: &Value) -> CallEnd {
    let parts = block["content"].as_array();
    let has_failed = parts.into_iter().flatten().any(|part| part["success"] == false);
    let is_error = block["is_error"] == true || has_failed;
    if is_error { CallEnd::Failed } else { CallEnd::Succeeded }
}
