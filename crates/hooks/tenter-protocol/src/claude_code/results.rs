//! The results of tools: `tool_response` in Claude Code's form, and back.

use serde_json::{Value, json};

use crate::tool_metadata::{Bash, FileEdit, FileRead, FileWrite, Metadata};
use crate::{Object, ToolCall, ToolResult};

/// The `metadataType` of results in a host's own form.
pub const HOST: &str = "host";
/// The field of such a result that is not an object itself.
const WHOLE: &str = "result";

/// Returns stdout and stderr of a shell command; `None` if the result is no text, such as an image.
pub fn shell_output(response: &Value) -> Option<String> {
    if let Value::String(text) = response {
        return Some(text.clone());
    }
    if response["isImage"] == json!(true) {
        return None;
    }
    let stdout = response.get("stdout")?.as_str()?;
    match response["stderr"].as_str().unwrap_or_default() {
        "" => Some(stdout.to_owned()),
        stderr if stdout.is_empty() => Some(stderr.to_owned()),
        stderr => Some(format!("{stdout}\n{stderr}")),
    }
}

/// Returns the metadata of a result in a form that Tenter has none for.
pub fn host_metadata(response: &Value) -> Object {
    match response {
        Value::Object(object) => object.clone(),
        other => Object::from_iter([(WHOLE.to_owned(), other.clone())]),
    }
}

/// Returns the `tool_response` for the result of a call.
pub fn response(call: &ToolCall, result: &ToolResult) -> Value {
    let form = match result.metadata_type.as_deref() {
        Some(Bash::TYPE) => metadata::<Bash>(result).map(|bash| {
            json!({"stdout": bash.output, "stderr": "", "interrupted": false, "isImage": false})
        }),
        Some(FileRead::TYPE) => metadata::<FileRead>(result).map(|file| file_read(&file)),
        Some(FileWrite::TYPE) => metadata::<FileWrite>(result).map(
            |write| json!({"filePath": write.file_path, "content": write.content, "structuredPatch": []}),
        ),
        Some(FileEdit::TYPE) => metadata::<FileEdit>(result).map(|edit| file_edit(call, &edit)),
        Some(HOST) => result.metadata.as_ref().map(host_response),
        _ => None,
    };
    form.unwrap_or_else(|| json!([{"type": "text", "text": result.text()}]))
}

fn metadata<M: Metadata + serde::de::DeserializeOwned>(result: &ToolResult) -> Option<M> {
    serde_json::from_value(Value::Object(result.metadata.clone()?)).ok()
}

fn file_read(file: &FileRead) -> Value {
    let count = file.lines.len() as u64;
    let total = file.offset.max(1) - 1 + count + file.remaining_lines;
    let file = json!({"filePath": file.file_path, "content": file.lines.join("\n"), "numLines": count,
        "startLine": file.offset.max(1), "totalLines": total});
    json!({"type": "text", "file": file})
}

fn file_edit(call: &ToolCall, edit: &FileEdit) -> Value {
    let text = |field: &str| call.input.get(field).and_then(Value::as_str).unwrap_or_default();
    json!({"filePath": edit.file_path, "oldString": text("old_text"), "newString": text("new_text"),
        "structuredPatch": [], "userModified": false, "replaceAll": edit.replace_all})
}

fn host_response(metadata: &Object) -> Value {
    match metadata.get(WHOLE) {
        Some(whole) if metadata.len() == 1 => whole.clone(),
        _ => Value::Object(metadata.clone()),
    }
}

/// Returns the `error` of a failed call.
pub fn error(result: &ToolResult) -> String {
    let is_shell = result.metadata_type.as_deref() == Some(Bash::TYPE);
    let bash = metadata::<Bash>(result).filter(|_| is_shell);
    match bash.and_then(|bash| Some((bash.exit_code?, bash.output))) {
        Some((exit_code, output)) => format!("Exit code {exit_code}\n{output}"),
        None => result.error.clone().unwrap_or_default(),
    }
}

/// Returns the duration of the call, in milliseconds.
pub fn duration_ms(result: &ToolResult) -> Option<u64> {
    let nanoseconds = result.metadata.as_ref()?.get("executionTime")?.as_u64()?;
    Some(nanoseconds / 1_000_000)
}

/// Returns the change of `result` that makes the model read `response` instead.
pub fn rewrite(result: &ToolResult, response: &Value) -> Object {
    let own = result.metadata_type.as_deref();
    let mut metadata = result.metadata.clone().unwrap_or_default();
    let change = match own {
        Some(Bash::TYPE) => shell_output(response).map(|output| ("output", json!(output))),
        Some(FileRead::TYPE) => read_text(response)
            .map(|text| ("lines", text.lines().map(str::to_owned).collect::<Vec<_>>().into())),
        _ => None,
    };
    let (kind, metadata) = match change {
        Some((field, value)) => {
            metadata.insert(field.to_owned(), value);
            (own.unwrap_or(HOST), metadata)
        }
        None => (HOST, host_metadata(response)),
    };
    Object::from_iter([
        ("metadataType".to_owned(), json!(kind)),
        ("metadata".to_owned(), Value::Object(metadata)),
    ])
}

fn read_text(response: &Value) -> Option<&str> {
    response.as_str().or_else(|| response["file"]["content"].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bash() -> (ToolCall, ToolResult) {
        let metadata = Bash {
            command: "make".into(),
            exit_code: Some(2),
            output: "oops".into(),
            execution_time: Some(3_000_000),
            ..Bash::default()
        };
        let call = ToolCall::new("1", "bash", []);
        (call, ToolResult::success("bash", &metadata, "T".into()))
    }

    #[test]
    fn a_shell_result_has_stdout_and_a_failure_its_exit_code() {
        let (call, result) = bash();
        assert_eq!(
            response(&call, &result),
            json!({"stdout": "oops", "stderr": "", "interrupted": false, "isImage": false})
        );
        assert_eq!(error(&result.clone().failed("exit code 2")), "Exit code 2\noops");
        assert_eq!(duration_ms(&result), Some(3));
        assert_eq!(error(&ToolResult::failure("grep", "no", "T".into())), "no");
    }

    #[test]
    fn a_changed_response_becomes_the_same_kind_of_result() {
        let (_, result) = bash();
        let output = rewrite(&result, &json!({"stdout": "[gone]", "stderr": ""}));
        let new = result.rewrite(&output).unwrap();
        assert_eq!(
            (new.text(), &new.metadata.unwrap()["command"]),
            ("[gone]".to_owned(), &json!("make"))
        );
        let blocks = json!([{"type": "text", "text": "x"}]);
        let output = result.rewrite(&rewrite(&result, &json!({"content": blocks}))).unwrap();
        assert_eq!(output.metadata_type.as_deref(), Some(HOST));
    }

    #[test]
    fn a_read_file_has_its_content_without_numbers() {
        let file = FileRead {
            file_path: "/a".into(),
            offset: 3,
            lines: vec!["x".into(), "y".into()],
            remaining_lines: 5,
            ..FileRead::default()
        };
        let result = ToolResult::success("file_read", &file, "T".into());
        let response = response(&ToolCall::new("1", "file_read", []), &result);
        assert_eq!(
            response["file"],
            json!({"filePath": "/a", "content": "x\ny", "numLines": 2, "startLine": 3, "totalLines": 9})
        );
        let output = rewrite(&result, &json!({"file": {"content": "z"}}));
        assert_eq!(output["metadata"]["lines"], json!(["z"]));
    }

    #[test]
    fn other_results_are_text_and_a_hosts_own_stay() {
        let call = ToolCall::new("1", "mcp__a__b", []);
        let host = |metadata: Object| ToolResult {
            metadata_type: Some(HOST.into()),
            metadata: Some(metadata),
            ..ToolResult::failure("x", "", "T".into())
        };
        let blocks = json!([{"type": "text", "text": "hi"}]);
        assert_eq!(response(&call, &host(host_metadata(&blocks))), blocks);
        let object = json!({"a": 1});
        assert_eq!(response(&call, &host(host_metadata(&object))), object);
    }
}
