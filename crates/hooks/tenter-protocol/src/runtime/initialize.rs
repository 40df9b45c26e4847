//! The first request of a conversation, and what the hook answers (S5, S6).

use serde::{Deserialize, Serialize};

use super::vocabulary::PROTOCOL;
use super::{RawJson, Service};

/// Maximum number of event requests that a hook can have open.
pub const MAX_CONCURRENCY: usize = 16;

/// The parameters of `initialize`. They hold no secret and name no session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Initialize {
    /// The version of the runtime protocol.
    pub protocol: u32,
    /// The hook's full name.
    pub hook: String,
    /// The project root.
    pub project: String,
    /// The program that started the hook: `tenter`, or the name of another agent.
    pub host: String,
    /// The events that the hook subscribes to, in its own spelling.
    pub events: Vec<String>,
    /// The services that the hook may use.
    pub services: Vec<Service>,
}

/// The response of a hook to `initialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Initialized {
    /// Maximum number of event requests that the hook has open at once.
    pub concurrency: usize,
}

/// The answer on the wire. Other fields are ignored.
#[derive(Deserialize)]
struct Answered {
    #[serde(default)]
    protocol: Option<u32>,
    #[serde(default)]
    concurrency: Option<usize>,
}

impl Initialized {
    /// Reads the result of `initialize`: `{}`, or an object with `protocol` or `concurrency`.
    ///
    /// # Errors
    /// The hook cannot be used. The error is the end of a sentence that begins with its name.
    pub fn read(result: &RawJson) -> Result<Self, String> {
        if !result.is_object() {
            return Err("answered `initialize` with something else than an object".to_owned());
        }
        let Answered { protocol, concurrency } = result
            .read()
            .map_err(|error| format!("answered `initialize` with an invalid object: {error}"))?;
        if let Some(theirs) = protocol.filter(|theirs| *theirs != PROTOCOL) {
            return Err(format!(
                "has version {theirs} of the runtime protocol; this is version {PROTOCOL}"
            ));
        }
        let concurrency = concurrency.unwrap_or(1);
        if !(1..=MAX_CONCURRENCY).contains(&concurrency) {
            return Err(format!(
                "has a `concurrency` of {concurrency}; it must be 1 to {MAX_CONCURRENCY}"
            ));
        }
        Ok(Self { concurrency })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(result: &Value) -> Result<usize, String> {
        Initialized::read(&RawJson::new(result)).map(|answer| answer.concurrency)
    }

    #[test]
    fn an_empty_object_means_one_request_at_a_time() {
        assert_eq!(read(&json!({})), Ok(1));
        assert_eq!(read(&json!({"protocol": 1, "concurrency": 16, "sdk": "python"})), Ok(16));
    }

    #[test]
    fn another_protocol_is_named_with_ours() {
        let why = read(&json!({"protocol": 7})).unwrap_err();
        assert!(why.contains("version 7") && why.contains("version 1"), "{why}");
    }

    #[test]
    fn invalid_answers_are_failures() {
        for result in [
            json!(null),
            json!([]),
            json!("ok"),
            json!({"concurrency": 0}),
            json!({"concurrency": 17}),
            json!({"concurrency": "4"}),
            json!({"protocol": -1}),
        ] {
            assert!(read(&result).is_err(), "{result}");
        }
    }
}
