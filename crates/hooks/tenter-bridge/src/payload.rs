//! A native payload: the JSON object that a host writes to the stdin of its hooks.

use serde_json::Value;
use tenter_base::excerpt;
use tenter_protocol::{Object, json};

/// Maximum size of a payload, in bytes.
pub const MAX_PAYLOAD: u64 = 64 << 20;

/// A native payload. Fields that the bridge does not read are ignored: newer hosts add some.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Payload(Object);

/// The reason why a payload cannot be read, as a clause for messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PayloadError(String);

impl Payload {
    /// Parses a payload.
    ///
    /// # Errors
    /// It is not a JSON object, is nested too deeply, or is longer than [`MAX_PAYLOAD`].
    pub fn parse(bytes: &[u8]) -> Result<Self, PayloadError> {
        if bytes.len() as u64 > MAX_PAYLOAD {
            return Err(PayloadError::longer_than(MAX_PAYLOAD));
        }
        match json::read(bytes) {
            Ok(value) => Self::try_from(value),
            Err(_) if bytes.iter().all(u8::is_ascii_whitespace) => {
                Err(PayloadError("the payload is empty".to_owned()))
            }
            Err(error) => Err(PayloadError(format!("the payload is not JSON: {error}"))),
        }
    }

    /// Sets a field, unless the payload has it.
    #[must_use]
    pub fn with_default(mut self, field: &str, value: Value) -> Self {
        self.0.entry(field).or_insert(value);
        self
    }

    /// Returns a field, unless it is missing or null.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// Returns the text of a field; `None` if it is missing, empty or no text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.get(field)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns the text of a field that every payload of its event has.
    ///
    /// # Errors
    /// It is missing, empty or no text.
    pub fn required(&self, field: &str) -> Result<&str, PayloadError> {
        self.text(field).ok_or_else(|| PayloadError(format!("the payload has no `{field}`")))
    }

    /// Checks that a field contains the name of the event that the host names.
    ///
    /// # Errors
    /// It is missing, or names another event.
    pub(crate) fn check_event(&self, field: &str, event: &str) -> Result<(), PayloadError> {
        let name = self.required(field)?;
        if name == event { Ok(()) } else { Err(PayloadError::other_event(event, name)) }
    }

    /// Returns an object in a field; `None` if it is missing or no object.
    pub fn object(&self, field: &str) -> Option<&Object> {
        self.get(field)?.as_object()
    }

    /// Renames fields: each pair is another spelling and the usual one.
    #[must_use]
    pub fn with_spellings(&self, spellings: &[(&str, &str)]) -> Self {
        let mut object = self.0.clone();
        for (other, usual) in spellings {
            if !object.contains_key(*usual)
                && let Some(value) = object.shift_remove(*other)
            {
                object.insert((*usual).to_owned(), value);
            }
        }
        Self(object)
    }

    /// Returns whether a field is `true`.
    pub fn is_set(&self, field: &str) -> bool {
        self.get(field) == Some(&Value::Bool(true))
    }

    /// Returns a whole number in a field.
    pub fn count(&self, field: &str) -> Option<u64> {
        self.get(field)?.as_u64()
    }
}

impl From<Object> for Payload {
    fn from(object: Object) -> Self {
        Self(object)
    }
}

impl TryFrom<Value> for Payload {
    type Error = PayloadError;

    fn try_from(value: Value) -> Result<Self, PayloadError> {
        match value {
            Value::Object(object) => Ok(Self(object)),
            other => Err(PayloadError(format!(
                "the payload is not a JSON object: {}",
                excerpt::head(&other.to_string(), 60)
            ))),
        }
    }
}

impl PayloadError {
    /// Creates the error that the payload is longer than this many bytes.
    pub fn longer_than(bytes: u64) -> Self {
        Self(format!("the payload is longer than {} MiB", bytes >> 20))
    }

    /// Creates the error that the payload lacks something.
    pub(crate) fn missing(what: &str) -> Self {
        Self(format!("the payload has no {what}"))
    }

    /// Creates the error that the input of a call of this tool is no object.
    pub(crate) fn unreadable_input(tool: &str) -> Self {
        Self(format!("the input of the tool {:?} is not a JSON object", excerpt::head(tool, 60)))
    }

    /// Creates the error that the payload contains the event `actual`, although the host runs the hook of `expected`.
    pub(crate) fn other_event(expected: &str, actual: &str) -> Self {
        let actual = excerpt::head(actual, 60);
        Self(format!(
            "the payload is of the event {actual:?}, but the host runs the hook of {expected}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Payload::parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_an_object_is_an_error_that_says_so() {
        assert_eq!(error(" \n"), "the payload is empty");
        assert_eq!(error("[1]"), "the payload is not a JSON object: [1]");
        assert!(error("{\"a\": ").starts_with("the payload is not JSON: EOF"));
        assert!(error(&"[".repeat(100_000)).contains("recursion limit"));
    }

    #[test]
    fn null_and_empty_fields_count_as_missing() {
        let payload = Payload::parse(br#"{"a": null, "b": "", "c": "x", "d": 3}"#).unwrap();
        assert_eq!(
            (payload.text("a"), payload.text("b"), payload.text("c")),
            (None, None, Some("x"))
        );
        assert_eq!(payload.count("d"), Some(3));
        assert_eq!(payload.required("b").unwrap_err().to_string(), "the payload has no `b`");
    }
}
