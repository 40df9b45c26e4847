//! Tool results between a host's form and Tenter's (B11).

use std::path::Path;

use serde_json::{Value, json};
use tenter_protocol::claude_code::results;
use tenter_protocol::confinement::ConfinedFact;
use tenter_protocol::tool_metadata::{Bash, FileRead, FileWrite};
use tenter_protocol::{Object, ToolCall, ToolResult};

use crate::occurrence::{ToolEnd, ToolOutcome};

/// Joins a text, or the texts of a list of blocks, by line feeds; `None` for any other value.
pub(crate) fn joined_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

/// Returns the result in Tenter's form if the tool has one, else in the host's.
pub(crate) fn canonical(call: &ToolCall, end: &ToolEnd, cwd: &Path, time: String) -> ToolResult {
    match &end.outcome {
        ToolOutcome::Failure(error) => failure(call, end, error, cwd, time),
        ToolOutcome::Success => ended(call, end, cwd, time),
        ToolOutcome::Unknown => ToolResult { success: None, ..ended(call, end, cwd, time) },
    }
}

/// Adds how the call was confined to a result of a shell command.
pub(crate) fn with_confinement(mut result: ToolResult, fact: Option<ConfinedFact>) -> ToolResult {
    if let (Some(metadata), Some(Ok(fact))) = (&mut result.metadata, fact.map(serde_json::to_value))
    {
        metadata.insert("confined".to_owned(), fact);
    }
    result
}

fn ended(call: &ToolCall, end: &ToolEnd, cwd: &Path, time: String) -> ToolResult {
    match call.name.as_str() {
        "bash" => shell(call, end, cwd, time),
        "file_read" => file_read(call, end, time),
        "file_write" => file_write(call, time),
        _ => native(&call.name, end, time),
    }
}

fn shell(call: &ToolCall, end: &ToolEnd, cwd: &Path, time: String) -> ToolResult {
    let output = end.output.clone().or_else(|| results::shell_output(&end.result));
    let Some(output) = output else { return native(&call.name, end, time) };
    ToolResult::success(&call.name, &bash(call, end, output, cwd), time)
}

fn bash(call: &ToolCall, end: &ToolEnd, output: String, cwd: &Path) -> Bash {
    Bash {
        command: call.input.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
        exit_code: end.exit_code.or((end.outcome == ToolOutcome::Success).then_some(0)),
        output,
        execution_time: end.duration_ms.map(|time| time.saturating_mul(1_000_000)),
        working_dir: cwd.to_string_lossy().into_owned(),
        ..Bash::default()
    }
}

fn file_read(call: &ToolCall, end: &ToolEnd, time: String) -> ToolResult {
    let file = &end.result["file"];
    let Some(content) = file["content"].as_str() else { return native(&call.name, end, time) };
    let (offset, lines) = (file["startLine"].as_u64().unwrap_or(1), file["numLines"].as_u64());
    let last = offset.saturating_sub(1) + lines.unwrap_or_default();
    let remaining = file["totalLines"].as_u64().unwrap_or_default().saturating_sub(last);
    let metadata = FileRead {
        file_path: file["filePath"].as_str().unwrap_or_default().to_owned(),
        offset,
        line_limit: call.input.get("line_limit").and_then(Value::as_u64).unwrap_or_default(),
        lines: content.lines().map(str::to_owned).collect(),
        truncated: remaining > 0,
        remaining_lines: remaining,
    };
    ToolResult::success(&call.name, &metadata, time)
}

fn file_write(call: &ToolCall, time: String) -> ToolResult {
    let text = |field: &str| call.input.get(field).and_then(Value::as_str).unwrap_or_default();
    let content = text("text");
    let metadata = FileWrite {
        file_path: text("file_path").to_owned(),
        content: content.to_owned(),
        size: content.len() as u64,
    };
    ToolResult::success(&call.name, &metadata, time)
}

fn native(tool: &str, end: &ToolEnd, time: String) -> ToolResult {
    let metadata = match (&end.result, &end.output) {
        (Value::Null, Some(output)) => Object::from_iter([("output".to_owned(), json!(output))]),
        (result, _) => results::host_metadata(result),
    };
    ToolResult {
        tool_name: tool.to_owned(),
        success: Some(true),
        error: None,
        metadata_type: Some(results::HOST.to_owned()),
        metadata: Some(metadata),
        timestamp: time,
    }
}

fn failure(call: &ToolCall, end: &ToolEnd, error: &str, cwd: &Path, time: String) -> ToolResult {
    let exit_code = end.exit_code.filter(|_| call.name == "bash");
    let Some(exit_code) = exit_code else { return ToolResult::failure(&call.name, error, time) };
    let metadata = bash(call, end, end.output.clone().unwrap_or_default(), cwd);
    ToolResult::success(&call.name, &metadata, time).failed(format!("exit code {exit_code}"))
}
