//! A tool call in a few words: the most significant field of its input.

use crate::{Object, json};
use serde_json::Value;

/// The most significant field of each tool's input.
const KEY_FIELDS: &[(&str, &str)] = &[
    ("bash", "command"),
    ("file_read", "file_path"),
    ("file_write", "file_path"),
    ("file_edit", "file_path"),
    ("grep", "pattern"),
    ("glob", "pattern"),
    ("subagent", "question"),
    ("skill", "skill"),
];

/// Returns the most significant field of a call's input; the whole input if it has none.
pub fn call_summary(tool: &str, input: &Object) -> String {
    let field = KEY_FIELDS.iter().find(|(name, _)| *name == tool);
    let value = field.and_then(|(_, field)| input.get(*field)).and_then(Value::as_str);
    value.map_or_else(|| json::to_string(input), str::to_owned)
}
