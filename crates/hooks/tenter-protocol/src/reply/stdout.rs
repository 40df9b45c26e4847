//! The part of reading stdout that both protocols share: nothing, or one JSON object.

use serde_json::Value;

use super::ReplyError;
use crate::{Object, json};

/// A reply's object, and the first key that is repeated in it. Of a repeated key, the value that denies is kept, else the last.
#[derive(Debug, PartialEq)]
pub(crate) struct ReplyObject {
    pub(crate) object: Object,
    pub(crate) repeated_key: Option<String>,
}

/// Returns stdout without a byte order mark and surrounding white space. `None` if it is empty or `null`, which is no action.
pub(crate) fn content(stdout: &[u8]) -> Option<&[u8]> {
    let content = json::trim(stdout);
    (!content.is_empty() && content != b"null").then_some(content)
}

/// Reads exactly one JSON object as real programs write it (R82).
pub(crate) fn object(content: &[u8]) -> Result<ReplyObject, ReplyError> {
    if content.first() != Some(&b'{') {
        return Err(ReplyError::NotAnObject("it does not begin with {".to_owned()));
    }
    let result = json::read_selecting(content, |key, first, second| {
        !denies(key, second) && denies(key, first)
    });
    let result = result.map_err(|error| ReplyError::NotAnObject(error.to_string()))?;
    match result.value {
        Value::Object(object) => Ok(ReplyObject { object, repeated_key: result.repeated_key }),
        _ => Err(ReplyError::NotAnObject("it is a number".to_owned())),
    }
}

/// Returns true if a field with this value denies, in any form of a reply.
fn denies(key: &str, value: &Value) -> bool {
    match (key, value) {
        ("decision" | "permissionDecision" | "behavior", Value::String(word)) => {
            matches!(word.as_str(), "deny" | "block")
        }
        ("blocked", Value::Bool(denies)) => *denies,
        ("continue", Value::Bool(continues)) => !continues,
        ("hookSpecificOutput" | "decision", Value::Object(object)) => {
            object.iter().any(|(key, value)| denies(key, value))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_and_white_space_are_no_action_and_a_byte_order_mark_is_skipped() {
        for stdout in ["", " \n", "null", "\u{feff}null\n", "\u{feff}", "\u{feff} \n"] {
            assert_eq!(content(stdout.as_bytes()), None, "{stdout:?}");
        }
        assert_eq!(content("\u{feff} {}\n".as_bytes()), Some(&b"{}"[..]));
    }

    #[test]
    fn of_a_repeated_key_the_value_that_denies_is_kept() {
        for (text, expected) in [
            (r#"{"decision": "deny", "decision": "allow"}"#, json!({"decision": "deny"})),
            (r#"{"decision": "allow", "decision": "block"}"#, json!({"decision": "block"})),
            (r#"{"decision": "deny", "decision": null}"#, json!({"decision": "deny"})),
            (r#"{"blocked": true, "blocked": false}"#, json!({"blocked": true})),
            (r#"{"continue": false, "continue": true}"#, json!({"continue": false})),
            (
                r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecision": "allow"}}"#,
                json!({"hookSpecificOutput": {"permissionDecision": "deny"}}),
            ),
            (
                r#"{"hookSpecificOutput": {"permissionDecision": "deny"}, "hookSpecificOutput": {}}"#,
                json!({"hookSpecificOutput": {"permissionDecision": "deny"}}),
            ),
            (r#"{"input": {"a": 1, "a": 2}}"#, json!({"input": {"a": 2}})),
        ] {
            let value = object(text.as_bytes()).unwrap();
            assert!(value.repeated_key.is_some(), "{text}");
            assert_eq!(Value::Object(value.object), expected, "{text}");
        }
        assert_eq!(
            object(br#"{"input": {"a": 1}, "output": {"a": 1}}"#).unwrap().repeated_key,
            None
        );
    }
}
