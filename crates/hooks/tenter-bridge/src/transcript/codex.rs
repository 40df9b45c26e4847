//! Transcripts of Codex, measured with version 0.169.0. They have the model's own names of tools, not those that hooks read.

use serde_json::{Value, json};
use tenter_protocol::event::{TurnUsage, Usage};
use tenter_protocol::{Block, Object};

use super::history::{History, end, turn_usage};
use crate::occurrence::{NativeCall, ToolEnd, ToolOutcome};
use crate::tool_result::joined_text;

/// The start of the message about the machine that Codex sends in the user's name.
const ENVIRONMENT: &str = "<environment_context>";

/// Returns the version of Codex in the first line of a transcript.
pub(super) fn version(line: &Value) -> Option<&str> {
    line["payload"]["cli_version"].as_str().filter(|_| line["type"] == "session_meta")
}

pub(super) fn read_line(history: &mut History<'_>, line: &Value) {
    let (payload, time) = (&line["payload"], line["timestamp"].as_str().unwrap_or_default());
    match line["type"].as_str() {
        Some("response_item") => item(history, payload, time),
        Some("compacted") => compact(history, payload, time),
        Some("event_msg") if payload["type"] == "token_count" => {
            if let Some(usage) = usage(&payload["info"]) {
                history.set_usage(usage);
            }
        }
        _ => {}
    }
}

fn compact(history: &mut History<'_>, payload: &Value, time: &str) {
    history.replace();
    match (payload["replacement_history"].as_array(), payload["message"].as_str()) {
        (Some(items), _) => items.iter().for_each(|one| item(history, one, time)),
        (None, Some(summary)) => history.add_user(vec![Block::text(summary)]),
        (None, None) => {}
    }
}

fn item(history: &mut History<'_>, item: &Value, time: &str) {
    let field = |name: &str| item[name].as_str().unwrap_or_default();
    match (field("type"), field("role")) {
        ("message", "user") => match text(&item["content"]) {
            environment if environment.starts_with(ENVIRONMENT) => {}
            text => history.add_user(vec![Block::text(text)]),
        },
        ("message", "assistant") => {
            history.add_response(Some(RESPONSE), vec![Block::text(text(&item["content"]))]);
        }
        ("reasoning", _) => match text(&item["summary"]) {
            empty if empty.is_empty() => {}
            text => history.add_response(Some(RESPONSE), vec![Block::Reasoning { text }]),
        },
        ("function_call", _) => {
            let input = serde_json::from_str(field("arguments")).unwrap_or_default();
            let call = call(field("call_id"), field("name"), input);
            let call = history.call(&call);
            history.add_response(Some(RESPONSE), vec![call]);
        }
        ("custom_tool_call", _) => {
            let input = Object::from_iter([("command".to_owned(), item["input"].clone())]);
            let call = call(field("call_id"), field("name"), input);
            let call = history.call(&call);
            history.add_response(Some(RESPONSE), vec![call]);
        }
        ("function_call_output" | "custom_tool_call_output", _) => {
            let output = text(&item["output"]);
            let result = history.result(field("call_id"), &tool_end(&output), time);
            history.add_user(vec![result]);
        }
        _ => {}
    }
}

/// The id of every response: Codex does not number them, so adjacent parts count as one.
const RESPONSE: &str = "response";

/// Returns a call in the names that Codex shows to hooks.
fn call(id: &str, tool: &str, input: Object) -> NativeCall {
    let (tool, input) = match (tool, input.get("cmd")) {
        ("exec_command", Some(command)) => {
            ("Bash", Object::from_iter([("command".to_owned(), command.clone())]))
        }
        _ => (tool, input),
    };
    NativeCall { id: Some(id.to_owned()), tool: tool.to_owned(), input, ..NativeCall::default() }
}

/// Returns the end of a tool. The lines before the output of a command contain its exit code.
fn tool_end(text: &str) -> ToolEnd {
    let (head, output) = match text.split_once("\nOutput:\n") {
        Some((head, output)) => (head, output.to_owned()),
        None => ("", text.to_owned()),
    };
    let code = |line: &str| {
        let code = line.strip_prefix("Process exited with code ");
        code.or_else(|| line.strip_prefix("Exit code: "))?.trim().parse().ok()
    };
    let exit_code: Option<i32> = head.lines().find_map(code);
    let outcome = match exit_code {
        Some(0) => ToolOutcome::Success,
        Some(code) => ToolOutcome::Failure(format!("exit code {code}")),
        None => ToolOutcome::Unknown,
    };
    ToolEnd { exit_code, result: json!(text), ..end(outcome, output) }
}

fn text(blocks: &Value) -> String {
    joined_text(blocks).unwrap_or_default()
}

fn usage(info: &Value) -> Option<Usage> {
    let (total, last) = (&info["total_token_usage"], info["last_token_usage"].as_object()?);
    let count = |name: &str| last.get(name).and_then(Value::as_u64).unwrap_or_default();
    let turn = TurnUsage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cached_input_tokens: count("cached_input_tokens"),
        cache_write_tokens: count("cache_write_input_tokens"),
    };
    Some(Usage {
        input_tokens: total["input_tokens"].as_u64()?,
        output_tokens: total["output_tokens"].as_u64()?,
        max_context_window: info["model_context_window"].as_u64().unwrap_or_default(),
        ..turn_usage(turn)
    })
}
