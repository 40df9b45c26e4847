//! Transcripts of Qwen Code: `projects/DIRECTORY/chats/SESSION.jsonl`, and `subagents/SESSION/agent-*.jsonl`. Measured with 0.24.4.

use std::path::PathBuf;

use serde_json::Value;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

pub(super) const READER: TranscriptReader =
    TranscriptReader::new("qwen", files, |session| json_lines::read(session, read_line));

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let projects = places.home.join(".qwen/projects");
    files_below(&projects, 3, |path| {
        let is_kept = |part: std::path::Component<'_>| {
            matches!(part.as_os_str().to_str(), Some("chats" | "subagents"))
        };
        is_named(path, "", ".jsonl") && path.components().any(is_kept)
    })
}

fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    match text(line, "type") {
        "assistant" => {
            text(line, "sessionId").clone_into(&mut session.id);
            session.agent = line["agentId"].as_str().map(str::to_owned);
            session.cwd = directory(&line["cwd"]);
            for part in line["message"]["parts"].as_array().into_iter().flatten() {
                let call = &part["functionCall"];
                if call.is_object() {
                    let native = native(&call["id"], text(call, "name"), &call["args"]);
                    session.begin(&line["timestamp"], native);
                }
            }
        }
        "tool_result" => session.calls.end(text(&line["toolCallResult"], "callId"), end(line)),
        "system" => {
            // The user's answer is only here.
            let event = &line["systemPayload"]["uiEvent"];
            match text(event, "decision") {
                "accept" | "modify" => session.calls.approve(text(event, "call_id")),
                "reject" => {
                    session.calls.end(text(event, "call_id"), CallEnd::Denied(DenialSource::User));
                }
                _ => {}
            }
        }
        "user" => {}
        kind => session.add_unknown(kind),
    }
}

fn end(line: &Value) -> CallEnd {
    let result = &line["toolCallResult"];
    let response = &line["message"]["parts"][0]["functionResponse"]["response"];
    match (text(result, "status"), text(result, "errorType")) {
        (_, "execution_denied") => CallEnd::Denied(DenialSource::Hook),
        ("cancelled", _) => CallEnd::Denied(DenialSource::User),
        ("error", _) => CallEnd::Failed,
        ("", _) if response["error"].is_string() => CallEnd::Failed,
        _ => CallEnd::Succeeded,
    }
}
