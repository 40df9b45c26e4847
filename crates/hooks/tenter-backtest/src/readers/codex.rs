//! Transcripts of Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`, and `archived_sessions`. Measured with 0.169.0, scripts of code mode with
//! 0.171.0. They have the model's own names of tools; hooks see other ones.

use std::path::PathBuf;

use serde_json::{Value, json};
use tenter_bridge::occurrence::NativeCall;
use tenter_protocol::Object;

use super::{TranscriptReader, TranscriptSession, directory, json_lines, native, text};
use crate::places::{HostPlaces, files_below, is_named};
use crate::recorded::{CallEnd, DenialSource};

/// Records that contain no call.
const OTHERS: [&str; 6] = *tenter_base::words!(
    "compacted ghost_snapshot inter_agent_communication token_usage_record turn_aborted
     world_state"
);
/// Items of responses that are no calls of tools that hooks see.
const OTHER_ITEMS: [&str; 9] = *tenter_base::words!(
    "agent_message compaction context_compaction ghost_snapshot image_generation_call message
     reasoning tool_search_call web_search_call"
);

/// The tool of code mode, whose input is a script that calls other tools.
const SCRIPT: &str = "exec";
/// The beginning of what the model reads if a hook denied a call.
const BLOCKED: &str = "Command blocked by PreToolUse hook";

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
        "event_msg" => read_nested(session, line),
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
        "custom_tool_call" => custom(id, text(item, "name"), &item["input"]),
        "local_shell_call" => shown(native(id, "shell", &item["action"])),
        "function_call_output" | "custom_tool_call_output" => {
            read_denials(session, line);
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

/// Returns a call of a tool whose input is a text. A script of code mode calls tools: its text alone cannot be judged.
fn custom(id: &Value, name: &str, input: &Value) -> NativeCall {
    let field = if name == SCRIPT { "script" } else { "command" };
    let has_unreadable_input = name == SCRIPT;
    NativeCall { has_unreadable_input, ..native(id, name, &json!({ field: input })) }
}

/// Reads a call that a script of code mode made. Items of other calls have those calls' ids.
fn read_nested(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let item = &line["payload"]["item"];
    let id = text(item, "id");
    if !id.starts_with("exec-") {
        return;
    }
    let native = match text(item, "type") {
        "CommandExecution" => {
            native(&item["id"], "Bash", &json!({ "command": shell_text(&item["command"]) }))
        }
        "FileChange" => native(&item["id"], "apply_patch", &json!({ "command": patch(item) })),
        "McpToolCall" => {
            let tool = format!("mcp__{}__{}", text(item, "server"), text(item, "tool"));
            native(&item["id"], &tool, &item["arguments"])
        }
        _ => return,
    };
    // A script whose calls are recorded is judged by them.
    if let Some(script) = session.calls.last_pending(SCRIPT) {
        script.is_cut = false;
    }
    session.begin(&line["timestamp"], native);
    let is_success = text(item, "status") == "completed";
    session.calls.end(id, if is_success { CallEnd::Succeeded } else { CallEnd::Failed });
}

/// Returns a patch with the changes of an item.
fn patch(item: &Value) -> String {
    let changes = item["changes"].as_object().into_iter().flatten();
    let sections: String = changes.map(|(path, change)| section(path, change)).collect();
    format!("*** Begin Patch\n{sections}*** End Patch")
}

fn section(path: &str, change: &Value) -> String {
    let diff = text(change, "unified_diff");
    match text(change, "type") {
        "delete" => format!("*** Delete File: {path}\n"),
        "update" => match change["move_path"].as_str() {
            Some(target) => format!("*** Update File: {path}\n*** Move to: {target}\n{diff}"),
            None => format!("*** Update File: {path}\n{diff}"),
        },
        _ => {
            let lines = text(change, "content").lines().map(|line| format!("+{line}\n"));
            format!("*** Add File: {path}\n{}", lines.collect::<String>())
        }
    }
}

/// Reads the calls of a script that a hook denied: only the script's output shows them.
fn read_denials(session: &mut TranscriptSession<'_, '_>, line: &Value) {
    let item = &line["payload"];
    let script = session.calls.last_pending(SCRIPT).and_then(|script| script.native.id.as_deref());
    if script != item["call_id"].as_str() {
        return;
    }
    let parts = item["output"].as_array().into_iter().flatten();
    for (place, part) in parts.map(|part| text(part, "text")).enumerate() {
        let message = part.split_once(BLOCKED).map(|(_, message)| message);
        let Some((_, command)) = message.and_then(|text| text.split_once(". Command: ")) else {
            continue;
        };
        let tool = if command.starts_with("*** Begin Patch") { "apply_patch" } else { "Bash" };
        let id = format!("{}-{place}", text(item, "call_id"));
        session.begin(&line["timestamp"], native(&json!(id), tool, &json!({ "command": command })));
        session.calls.end(&id, CallEnd::Denied(DenialSource::Hook));
    }
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
    if output.starts_with(BLOCKED) {
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
