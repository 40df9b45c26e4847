//! Transcripts of Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`, and `archived_sessions`. Measured with 0.169.0. They have the model's own
//! names of tools; hooks see other ones.

use std::path::PathBuf;

use serde_json::{Value, json};
use tenter_bridge::occurrence::NativeCall;
use tenter_protocol::Object;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

/// Records that contain no call.
const OTHERS: [&str; 7] = [
    "compacted",
    "event_msg",
    "ghost_snapshot",
    "inter_agent_communication",
    "token_usage_record",
    "turn_aborted",
    "world_state",
];
/// Items of responses that are no calls of tools that hooks see.
const OTHER_ITEMS: [&str; 9] = [
    "agent_message",
    "compaction",
    "context_compaction",
    "ghost_snapshot",
    "image_generation_call",
    "message",
    "reasoning",
    "tool_search_call",
    "web_search_call",
];

pub(super) const READER: TranscriptReader =
    TranscriptReader::new("codex", files, |session| json_lines::read(session, read_line));

fn files(places: &HostPlaces) -> Vec<PathBuf> {
    let home = places.directory("CODEX_HOME", ".codex");
    let below = |name: &str| {
        files_below(&home.join(name), 4, |path| {
            is_named(path, "rollout-", ".jsonl") || is_named(path, "rollout-", ".jsonl.zst")
        })
    };
    ["sessions", "archived_sessions"].into_iter().flat_map(below).collect()
}

fn read_line(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let payload = &line["payload"];
    match text(line, "type") {
        // The first one is the session's own; a fork contains its parent's, too.
        "session_meta" if session.id.is_empty() => begin(session, payload),
        "session_meta" => {}
        "turn_context" => session.cwd = directory(&payload["cwd"]).or(session.cwd.take()),
        "response_item" => read_item(session, line),
        kind if OTHERS.contains(&kind) => {}
        kind => session.add_unknown(kind),
    }
}

fn begin(session: &mut TranscriptSession<'_, '_>, meta: &Value) {
    let thread = text(meta, "id");
    meta["session_id"].as_str().unwrap_or(thread).clone_into(&mut session.id);
    session.agent = Some(thread.to_owned()).filter(|thread| *thread != session.id);
    session.cwd = directory(&meta["cwd"]);
}

fn read_item(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let item = &line["payload"];
    let id = if item["call_id"].is_string() { &item["call_id"] } else { &item["id"] };
    let call = match text(item, "type") {
        "function_call" => shown(native(id, text(item, "name"), &item["arguments"])),
        "custom_tool_call" => native(id, text(item, "name"), &json!({ "command": item["input"] })),
        "local_shell_call" => shown(native(id, "shell", &item["action"])),
        "function_call_output" | "custom_tool_call_output" => {
            return session.calls.end(text(item, "call_id"), end(&output_text(&item["output"])));
        }
        kind if OTHER_ITEMS.contains(&kind) => return,
        kind => return session.add_unknown(&format!("response_item {kind}")),
    };
    let server = item["namespace"].as_str().and_then(|name| name.strip_prefix("mcp__"));
    let tool = match server {
        Some(server) => format!("mcp__{}__{}", server.trim_end_matches('_'), call.tool),
        None => call.tool,
    };
    session.begin(&line["timestamp"], NativeCall { tool, ..call });
}

/// Returns a call in the names that Codex shows to hooks: every shell is `Bash`.
fn shown(call: NativeCall) -> NativeCall {
    let command = match call.tool.as_str() {
        "exec_command" => call.input.get("cmd"),
        "shell" | "shell_command" | "local_shell" | "container.exec" => call.input.get("command"),
        _ => None,
    };
    let Some(command) = command.map(shell_text) else { return call };
    let input = Object::from_iter([("command".to_owned(), command)]);
    NativeCall { tool: "Bash".to_owned(), input, ..call }
}

/// Returns the text of a command: `["bash", "-lc", TEXT]` is that text.
fn shell_text(command: &Value) -> Value {
    let Some(words) = command.as_array() else { return command.clone() };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [shell, "-lc" | "-c", text] if is_shell(shell) => json!(text),
        words => json!(shlex::try_join(words.iter().copied()).unwrap_or_default()),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    matches!(name, "bash" | "sh" | "zsh" | "dash")
}

fn output_text(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text(part, "text")).collect(),
        Value::Object(fields) => output_text(fields.get("content").unwrap_or(&Value::Null)),
        _ => String::new(),
    }
}

fn end(output: &str) -> CallEnd {
    if output.starts_with("Command blocked by PreToolUse hook") {
        return CallEnd::Denied(DenialSource::Hook);
    }
    if output.contains("rejected by user") || output.starts_with("aborted by user") {
        return CallEnd::Denied(DenialSource::User);
    }
    let code = |line: &str| {
        let code = line.strip_prefix("Process exited with code ");
        code.or_else(|| line.strip_prefix("Exit code: "))?.trim().parse::<i32>().ok()
    };
    match output.lines().take(8).find_map(code) {
        Some(0) | None => CallEnd::Succeeded,
        Some(_) => CallEnd::Failed,
    }
}
