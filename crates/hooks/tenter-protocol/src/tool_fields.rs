//! The fields of tool inputs that have more than one spelling (R63), and those that hold a path (R78).
//!
//! Models write `path` for a field that a tool advertises as `file_path`. Hooks, tools and the journal see only the
//! advertised name, so that a guard on `file_path` cannot be bypassed.

use crate::Object;
use crate::facts::PathUse;

/// `(tool, alias, advertised field)`.
pub const ALIASES: &[(&str, &str, &str)] = &[
    ("file_read", "path", "file_path"),
    ("file_read", "limit", "line_limit"),
    ("file_write", "path", "file_path"),
    ("file_write", "content", "text"),
    ("file_edit", "path", "file_path"),
    ("file_edit", "old_string", "old_text"),
    ("file_edit", "new_string", "new_text"),
    ("subagent", "task", "question"),
    ("subagent", "prompt", "question"),
    ("skill", "skill", "name"),
    ("skill", "skill_name", "name"),
];

/// `(tool, field, use)` of every field that holds a path.
pub const PATHS: &[(&str, &str, PathUse)] = &[
    ("file_read", "file_path", PathUse::Read),
    ("file_write", "file_path", PathUse::Write),
    ("file_edit", "file_path", PathUse::Write),
    ("file_edit", "notebook_path", PathUse::Write),
    ("grep", "path", PathUse::Search),
    ("glob", "path", PathUse::Search),
];

/// Returns the advertised field for an alias.
fn advertised(tool: &str, field: &str) -> Option<&'static str> {
    let row = ALIASES.iter().find(|(of, alias, _)| *of == tool && *alias == field);
    row.map(|(_, _, name)| *name)
}

/// Returns the aliases of a field.
pub fn aliases(tool: &str, field: &str) -> impl Iterator<Item = &'static str> {
    ALIASES.iter().filter(move |row| row.0 == tool && row.2 == field).map(|row| row.1)
}

/// Renames aliases in the input of `tool` to the advertised fields, in the same order. A `null` field counts as absent.
///
/// # Errors
/// Two spellings of one field have different values. The message names them.
pub fn renamed(tool: &str, input: &Object) -> Result<Object, String> {
    let is_alias = |field: &String| advertised(tool, field).is_some();
    if !input.keys().any(is_alias) {
        return Ok(input.clone());
    }
    let mut output = Object::new();
    for (field, value) in input {
        let name = advertised(tool, field).unwrap_or(field);
        match output.get(name) {
            Some(other) if value.is_null() || other == value => {}
            Some(other) if !other.is_null() => return Err(conflict(tool, name)),
            _ => {
                output.insert(name.to_owned(), value.clone());
            }
        }
    }
    Ok(output)
}

fn conflict(tool: &str, name: &str) -> String {
    let aliases = ALIASES.iter().filter(|(of, _, field)| *of == tool && *field == name);
    let aliases: Vec<String> = aliases.map(|(_, alias, _)| format!("`{alias}`")).collect();
    format!(
        "`{name}` is given twice with different values: {} is another spelling of it; use only `{name}`",
        aliases.join(" or ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use serde_json::{Value, json};

    fn write(input: &Value) -> Result<String, String> {
        renamed("file_write", input.as_object().unwrap()).map(|input| json::to_string(&input))
    }

    #[test]
    fn renames_aliases_in_place_and_keeps_other_fields() {
        assert_eq!(
            write(&json!({"content": "x", "other": 1, "path": "a"})).unwrap(),
            r#"{"text": "x", "other": 1, "file_path": "a"}"#
        );
        let bash = json!({"path": "a"}).as_object().unwrap().clone();
        assert_eq!(renamed("bash", &bash), Ok(bash), "bash has no such alias");
    }

    #[test]
    fn rejects_two_spellings_with_different_values() {
        for equal in [
            json!({"path": "a", "file_path": "a"}),
            json!({"path": "a", "file_path": null}),
            json!({"file_path": null, "path": "a"}),
            json!({"file_path": "a", "path": null}),
        ] {
            assert_eq!(write(&equal).unwrap(), r#"{"file_path": "a"}"#, "{equal}");
        }
        for different in
            [json!({"path": "a", "file_path": "b"}), json!({"file_path": "b", "path": "a"})]
        {
            let error = write(&different).unwrap_err();
            assert!(error.contains("`file_path`") && error.contains("`path`"), "{error}");
        }
        let both = json!({"task": "a", "prompt": "b"}).as_object().unwrap().clone();
        assert!(renamed("subagent", &both).unwrap_err().contains("`task` or `prompt`"));
    }
}
