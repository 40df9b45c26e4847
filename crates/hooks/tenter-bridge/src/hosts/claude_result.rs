//! Results of Claude Code's tools, after hooks changed them.

use serde_json::{Value, json};
use tenter_protocol::ToolResult;
use tenter_protocol::claude_code::results::HOST;

use crate::occurrence::{Outcome, ToolEnd};

/// The native result for the model to read, after hooks changed Tenter's form of it to `changed`. `None` if the tool failed, or if
/// the form of its results is not known: the host ignores other forms without a message.
pub(super) fn rewritten(end: &ToolEnd, changed: &ToolResult) -> Option<Value> {
    if end.outcome != Outcome::Success {
        return None;
    }
    let text = changed.text();
    match &end.result {
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
