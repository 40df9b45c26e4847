//! Tool results between a host's form and Tenter's (B11).

use std::path::Path;

use serde_json::{Value, json};
use tenter_protocol::tool_metadata::{Bash, FileRead, FileWrite};
use tenter_protocol::{Object, ToolCall, ToolResult};

use crate::occurrence::ToolEnd;

/// The `metadataType` of results in the host's own form.
const HOST: &str = "host";

/// The result in Tenter's form, where there is one for the tool; otherwise the host's own.
pub(crate) fn canonical(call: &ToolCall, end: &ToolEnd, cwd: &Path, time: String) -> ToolResult {
    match end {
        ToolEnd::Success { result, duration_ms } => match call.name.as_str() {
            "bash" => shell(call, result, *duration_ms, cwd, time),
            "file_read" => file_read(call, result, time),
            "file_write" => file_write(call, time),
            _ => native(&call.name, result, time),
        },
        ToolEnd::Failure { error, duration_ms } => failure(call, error, *duration_ms, cwd, time),
    }
}

fn shell(
    call: &ToolCall,
    result: &Value,
    duration_ms: Option<u64>,
    cwd: &Path,
    time: String,
) -> ToolResult {
    let Some(output) = shell_output(result) else { return native(&call.name, result, time) };
    ToolResult::success(&call.name, &bash(call, 0, output, duration_ms, cwd), time)
}

/// stdout and stderr of a command; `None` if the result is no text, such as an image.
fn shell_output(result: &Value) -> Option<String> {
    if let Value::String(text) = result {
        return Some(text.clone());
    }
    if result["isImage"] == json!(true) {
        return None;
    }
    let stdout = result.get("stdout")?.as_str()?;
    match result["stderr"].as_str().unwrap_or_default() {
        "" => Some(stdout.to_owned()),
        stderr if stdout.is_empty() => Some(stderr.to_owned()),
        stderr => Some(format!("{stdout}\n{stderr}")),
    }
}

fn bash(
    call: &ToolCall,
    exit_code: i32,
    output: String,
    duration_ms: Option<u64>,
    cwd: &Path,
) -> Bash {
    Bash {
        command: call.input.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
        exit_code,
        output,
        execution_time: duration_ms.unwrap_or_default().saturating_mul(1_000_000),
        working_dir: cwd.to_string_lossy().into_owned(),
        ..Bash::default()
    }
}

fn file_read(call: &ToolCall, result: &Value, time: String) -> ToolResult {
    let file = &result["file"];
    let Some(content) = file["content"].as_str() else { return native(&call.name, result, time) };
    let (offset, lines) = (file["startLine"].as_u64().unwrap_or(1), file["numLines"].as_u64());
    let end = offset.saturating_sub(1) + lines.unwrap_or_default();
    let remaining = file["totalLines"].as_u64().unwrap_or_default().saturating_sub(end);
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

fn native(tool: &str, result: &Value, time: String) -> ToolResult {
    let metadata = match result {
        Value::Object(object) => object.clone(),
        other => Object::from_iter([("result".to_owned(), other.clone())]),
    };
    ToolResult {
        tool_name: tool.to_owned(),
        success: true,
        error: None,
        metadata_type: Some(HOST.to_owned()),
        metadata: Some(metadata),
        timestamp: time,
    }
}

fn failure(
    call: &ToolCall,
    error: &str,
    duration_ms: Option<u64>,
    cwd: &Path,
    time: String,
) -> ToolResult {
    let exit_code = exit_code(error).filter(|_| call.name == "bash");
    let Some(exit_code) = exit_code else { return ToolResult::failure(&call.name, error, time) };
    let output = error.split_once('\n').map_or("", |(_, output)| output).to_owned();
    let metadata = bash(call, exit_code, output, duration_ms, cwd);
    ToolResult::success(&call.name, &metadata, time).failed(format!("exit code {exit_code}"))
}

/// The exit code in an error whose first line is `Exit code N`.
fn exit_code(error: &str) -> Option<i32> {
    error.lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok()
}

/// The native result for the model to read instead of `result`, after hooks changed Tenter's form of it to `changed`. `None`
/// if the host's form of this tool's results cannot be written.
pub(crate) fn rewritten(result: &Value, changed: &ToolResult) -> Option<Value> {
    let text = changed.text();
    match result {
        // The blocks of an MCP tool, for which any value may be given.
        Value::Array(_) if changed.error.is_none() => {
            let blocks = changed.metadata.as_ref().and_then(|metadata| metadata.get("result"));
            Some(blocks.cloned().unwrap_or(Value::String(text)))
        }
        Value::String(_) | Value::Array(_) => Some(Value::String(text)),
        Value::Object(object) if changed.metadata_type.as_deref() == Some(HOST) => {
            let metadata = changed.metadata.clone().filter(|_| changed.error.is_none())?;
            let is_same_shape = metadata.keys().all(|field| object.contains_key(field));
            is_same_shape.then_some(Value::Object(metadata))
        }
        Value::Object(object) if object.contains_key("stdout") => {
            let mut object = object.clone();
            object.insert("stdout".to_owned(), json!(text));
            object.insert("stderr".to_owned(), json!(""));
            // What else it holds repeats parts of the output.
            object.shift_remove("bashEditDiff");
            Some(Value::Object(object))
        }
        Value::Object(object)
            if object.get("file").is_some_and(|file| file["content"].is_string()) =>
        {
            let mut object = object.clone();
            object["file"]["content"] = json!(read_text(changed).unwrap_or(text));
            Some(Value::Object(object))
        }
        _ => None,
    }
}

/// The lines of a file that was read, as the host has them: without numbers.
fn read_text(changed: &ToolResult) -> Option<String> {
    let lines = changed.metadata.as_ref()?.get("lines")?.as_array()?;
    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
    changed.error.is_none().then(|| lines.join("\n"))
}
