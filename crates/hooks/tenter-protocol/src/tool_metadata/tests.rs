//! The text of metadata for the model.

use super::*;
use crate::ToolResult;
use serde_json::json;

fn result(metadata_type: &str, metadata: &Value) -> ToolResult {
    ToolResult {
        tool_name: "t".into(),
        success: Some(true),
        error: None,
        metadata_type: Some(metadata_type.into()),
        metadata: metadata.as_object().cloned(),
        timestamp: "T".into(),
    }
}

#[test]
fn file_read_numbers_its_lines_and_says_what_is_left() {
    let text = result(
        "file_read",
        &json!({"filePath": "a", "offset": 3, "lineLimit": 2, "lines": ["x", "y"], "truncated": true, "remainingLines": 5}),
    )
    .text();
    assert_eq!(text, "3\tx\n4\ty\n(5 more lines; continue with offset 5)");
}

#[test]
fn a_skill_is_its_instructions_and_where_its_files_are() {
    let skill = json!({"skillName": "pdf", "directory": "/s/pdf", "instructions": "Be brief.", "files": ["a.py"], "truncated": true});
    assert_eq!(
        result("skill", &skill).text(),
        "The skill pdf. Its directory is /s/pdf; paths in it are relative to that directory.\n\nBe brief.\n\n\
         Other files in the directory:\n- a.py\n(there are more)"
    );
}

#[test]
fn unknown_or_misshapen_metadata_is_shown_as_json() {
    assert_eq!(result("mystery", &json!({"a": 1})).text(), r#"{"a":1}"#);
    assert_eq!(result("bash", &json!({"output": 7})).text(), r#"{"output":7}"#);
    for kind in TYPES {
        let text = result(kind, &json!({"stdout": "hello"})).text();
        assert_eq!(text, r#"{"stdout":"hello"}"#, "{kind}");
    }
}

#[test]
fn metadata_types_are_unique() {
    let mut types = TYPES.to_vec();
    types.sort_unstable();
    types.dedup();
    assert_eq!(types.len(), TYPES.len());
}
