//! Transcripts of Qwen Code: `projects/DIRECTORY/chats/SESSION.jsonl`, and `subagents/SESSION/agent-*.jsonl`. Measured with 0.24.4.

use std::path::PathBuf;

use serde_json::Value;
use tenter_bridge::occurrence::NativeCall;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

pub(super) const READER: TranscriptReader =
    TranscriptReader::new("qwen", files, |session| json_lines::read(session, read_line));

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let home = places.directory("QWEN_HOME", ".qwen");
    let directory = places.variable("QWEN_RUNTIME_DIR").unwrap_or(home);
    files_below(&directory.join("projects"), 3, |path| {
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
                    session.begin(&line["timestamp"], read_call(call));
                }
            }
        }
        "tool_result" => {
            let response = &line["message"]["parts"][0]["functionResponse"]["response"];
            let result = &line["toolCallResult"];
            let end = end(text(result, "status"), text(result, "errorType"), response);
            session.calls.end(text(result, "callId"), end);
        }
        "system" => read_event(session, line),
        "user" => {}
        kind => session.add_unknown(kind),
    }
}

/// Reads a call. `tool_call` calls a tool that the model was not told at the start: hooks see that tool.
fn read_call(call: &Value) -> NativeCall {
    let args = &call["args"];
    match text(call, "name") {
        "tool_call" => native(&call["id"], text(args, "name"), &args["arguments"]),
        name => native(&call["id"], name, args),
    }
}

/// Reads what only an event records: the user's answer, and a call that a script of the tool `exec` made.
fn read_event(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let event = &line["systemPayload"]["uiEvent"];
    let id = text(event, "call_id");
    if event["source"] == "code_mode" {
        let tool = text(event, "function_name");
        session.begin(&line["timestamp"], native(&event["call_id"], tool, &event["function_args"]));
        let end = end(text(event, "status"), text(event, "error_type"), event);
        return session.calls.end(id, end);
    }
    match text(event, "decision") {
        "accept" | "modify" => session.calls.approve(id),
        "reject" => session.calls.end(id, CallEnd::Denied(DenialSource::User)),
        _ => {}
    }
}

fn end(status: &str, error_type: &str, response: &Value) -> CallEnd {
    match (status, error_type) {
        (_, "execution_denied") => CallEnd::Denied(DenialSource::Hook),
        ("cancelled", _) => CallEnd::Denied(DenialSource::User),
        ("error", _) => CallEnd::Failed,
        ("", _) if response["error"].is_string() => CallEnd::Failed,
        _ => CallEnd::Succeeded,
    }
}
