//! Transcripts of Pi: `sessions/--DIRECTORY--/TIME_SESSION.jsonl`, a tree of messages: the calls of abandoned branches were made, too.
//! Measured with 0.73.1 and 1.6.0.

use std::path::PathBuf;

use serde_json::Value;
use tenter_bridge::occurrence::NativeCall;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::CallEnd;

/// Entries without a call.
const OTHERS: [&str; 11] = *tenter_base::words!(
    "branch_summary compaction context_edit custom custom_message label mode_change model_change
     session_info thinking_level_change usage"
);
/// Messages without a call of the model; `bashExecution` is a command of the user.
const OTHER_ROLES: [&str; 6] =
    ["bashExecution", "branchSummary", "compactionSummary", "custom", "system", "user"];

pub(super) const READER: TranscriptReader =
    TranscriptReader::new("pi", files, |session| json_lines::read(session, read_line));

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let home = places.directory("PI_CODING_AGENT_DIR", ".pi/agent");
    files_below(&home.join("sessions"), 2, |path| is_named(path, "", ".jsonl"))
}

fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let message = &line["message"];
    match (text(line, "type"), text(message, "role")) {
        ("session", _) => {
            text(line, "id").clone_into(&mut session.id);
            session.cwd = directory(&line["cwd"]);
        }
        ("message", "assistant") => {
            let blocks = message["content"].as_array().into_iter().flatten();
            for block in blocks.filter(|block| block["type"] == "toolCall") {
                let native = native(&block["id"], text(block, "name"), &block["arguments"]);
                session.begin(&line["timestamp"], native);
            }
        }
        ("message", "toolResult") => {
            let is_error = message["isError"] == true;
            let end = if is_error { CallEnd::Failed } else { CallEnd::Succeeded };
            session.calls.end(text(message, "toolCallId"), end);
            for call in message["nestedCalls"]["calls"].as_array().into_iter().flatten() {
                read_nested(session, &line["timestamp"], call);
            }
        }
        ("message", role) if OTHER_ROLES.contains(&role) => {}
        ("message", role) => session.add_unknown(&format!("message {role}")),
        (kind, _) if OTHERS.contains(&kind) => {}
        (kind, _) => session.add_unknown(kind),
    }
}

/// Reads a call that a script of the tool `codemode` made. Pi leaves out long inputs.
fn read_nested(session: &mut TranscriptSession<'_, '_>, time: &Value, call: &Value) {
    let has_unreadable_input = call["arguments"].is_null();
    let native = native(&call["id"], text(call, "name"), &call["arguments"]);
    session.begin(time, NativeCall { has_unreadable_input, ..native });
    let end = match text(call, "status") {
        "ok" => CallEnd::Succeeded,
        "error" => CallEnd::Failed,
        _ => CallEnd::Unknown,
    };
    session.calls.end(text(call, "id"), end);
}
