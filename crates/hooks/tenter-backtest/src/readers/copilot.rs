//! Transcripts of Copilot CLI: `session-state/SESSION/events.jsonl`. Measured with 1.0.102.

use std::path::PathBuf;

use serde_json::Value;
use tenter_bridge::occurrence::NativeCall;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

/// The starts of kinds of events without a call that hooks see.
const OTHERS: [&str; 24] = *tenter_base::words!(
    "abort agent assistant. auto_mode_switch. capabilities. command elicitation. exit_plan_mode.
     external_tool. hook. human_response. mcp model. pending_messages. permission.
     prompt_cache_break sampling. sandbox. session skill. subagent. system. user workflow"
);
/// Events about tools that repeat what others say.
const OTHER_TOOL_EVENTS: [&str; 5] = *tenter_base::words!(
    "tool.execution_partial_result tool.execution_progress tool.shell_output tool.user_requested
     tool_search.activated"
);

pub(super) const READER: TranscriptReader =
    TranscriptReader::new("copilot", files, |session| json_lines::read(session, read_line));

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let home = places.directory("COPILOT_HOME", ".copilot");
    let below = |name: &str| {
        files_below(&home.join(name), 1, |path| {
            is_named(path, "events", ".jsonl")
                || path.parent().is_some_and(|parent| parent.ends_with(name))
                    && is_named(path, "", ".jsonl")
        })
    };
    ["session-state", "history-session-state"].into_iter().flat_map(below).collect()
}

fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let data = &line["data"];
    match text(line, "type") {
        "session.start" | "session.resume" | "session.context_changed" => {
            if let Some(id) = data["sessionId"].as_str() {
                id.clone_into(&mut session.id);
            }
            let cwd = directory(&data["context"]["cwd"]).or_else(|| directory(&data["cwd"]));
            session.cwd = cwd.or(session.cwd.take());
        }
        "tool.execution_start" => {
            session.agent = line["agentId"].as_str().map(str::to_owned);
            let native = NativeCall {
                server: data["mcpServerName"].as_str().map(str::to_owned),
                ..native(&data["toolCallId"], text(data, "toolName"), &data["arguments"])
            };
            session.begin(&line["timestamp"], native);
        }
        "permission.completed" => {
            let is_approved = text(&data["result"], "kind").starts_with("approved");
            if is_approved && text(data, "decisionSource") == "human_response" {
                session.calls.approve(text(data, "toolCallId"));
            }
        }
        "tool.execution_complete" => session.calls.end(text(data, "toolCallId"), end(data)),
        kind if OTHER_TOOL_EVENTS.contains(&kind) => {}
        kind if OTHERS.iter().any(|start| kind.starts_with(start)) => {}
        kind => session.add_unknown(kind),
    }
}

fn end(data: &Value) -> CallEnd {
    let error = &data["error"];
    match (text(error, "code"), text(error, "message")) {
        ("denied", message) if message.starts_with("Denied by preToolUse hook") => {
            CallEnd::Denied(DenialSource::Hook)
        }
        ("rejected", _) => CallEnd::Denied(DenialSource::User),
        ("denied", _) => CallEnd::Denied(DenialSource::Rule),
        _ if data["success"] == true => CallEnd::Succeeded,
        _ => CallEnd::Failed,
    }
}
