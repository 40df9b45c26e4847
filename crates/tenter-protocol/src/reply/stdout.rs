//! The part of reading stdout that both protocols share: nothing, or one JSON object.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use super::ReplyError;
use crate::Object;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Stdout without a byte order mark and surrounding white space. `None` if it is empty or `null`, which is no action.
pub(crate) fn content(stdout: &[u8]) -> Option<&[u8]> {
    let trimmed = stdout.trim_ascii();
    let content = trimmed.strip_prefix(BYTE_ORDER_MARK).map_or(trimmed, <[u8]>::trim_ascii_start);
    (!content.is_empty() && content != b"null").then_some(content)
}

/// Reads exactly one JSON object without duplicate fields.
pub(crate) fn object(content: &[u8]) -> Result<Object, ReplyError> {
    if content.first() != Some(&b'{') {
        return Err(ReplyError::NotAnObject("it does not begin with {".to_owned()));
    }
    serde_json::from_slice::<UniqueFields>(content)
        .map(|UniqueFields(object)| object)
        .map_err(|error| ReplyError::NotAnObject(error.to_string()))
}

/// An object without duplicate fields: with two `decision` fields, neither counts.
struct UniqueFields(Object);

impl<'de> Deserialize<'de> for UniqueFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut object = Object::new();
        while let Some((field, value)) = map.next_entry::<String, Value>()? {
            if object.contains_key(&field) {
                return Err(A::Error::custom(format_args!("duplicate field {field:?}")));
            }
            object.insert(field, value);
        }
        Ok(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_white_space_are_no_action_and_a_byte_order_mark_is_skipped() {
        for stdout in ["", " \n", "null", "\u{feff}null\n", "\u{feff}", "\u{feff} \n"] {
            assert_eq!(content(stdout.as_bytes()), None, "{stdout:?}");
        }
        assert_eq!(content("\u{feff} {}\n".as_bytes()), Some(&b"{}"[..]));
    }

    #[test]
    fn a_duplicate_field_is_an_error() {
        let error = object(br#"{"decision": "deny", "decision": "allow"}"#).unwrap_err();
        assert!(error.to_string().contains("duplicate field \"decision\""), "{error}");
        assert!(object(br#"{"input": {"a": 1}, "output": {"a": 1}}"#).is_ok());
    }
}
