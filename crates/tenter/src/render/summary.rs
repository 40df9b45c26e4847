//! A tool call in a few words: the field of its input that tells it from other calls of the tool.

use serde_json::Value;
use tenter_protocol::{Object, json};

/// The telling field of each tool's input.
const TELLING: &[(&str, &str)] = &[
    ("bash", "command"),
    ("file_read", "file_path"),
    ("file_write", "file_path"),
    ("file_edit", "file_path"),
    ("grep", "pattern"),
    ("glob", "pattern"),
    ("subagent", "question"),
    ("skill", "skill"),
];

/// The telling field of a call's input; the whole input where it has none.
pub(crate) fn call_summary(tool: &str, input: &Object) -> String {
    let telling = TELLING.iter().find(|(name, _)| *name == tool);
    let told = telling.and_then(|(_, field)| input.get(*field)).and_then(Value::as_str);
    told.map_or_else(|| json::to_string(input), str::to_owned)
}
