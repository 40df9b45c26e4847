//! One request: a line of stdin.

use std::path::PathBuf;

use serde_json::{Value, json};
use tenter_bridge::payload::{Payload, PayloadError};
use tenter_bridge::{Host, NativeEvent};
use tenter_protocol::{Object, json as protocol_json};

use super::line::{Line, MAX_LINE};
use crate::arguments::unknown_event;

/// The text between the head of a line and its payload, if the payload comes last. It cannot be part of a JSON string.
const BEFORE_PAYLOAD: &str = ",\"payload\":";
/// Maximum length of the head, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// A request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) head: Head,
    pub(super) cwd: PathBuf,
    /// The native payload. An error denies the action that follows if a hook fails closed.
    pub(super) payload: Result<Payload, PayloadError>,
}

/// The id and the event of a request.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// The id, as the host's plugin wrote it.
    pub(super) id: Value,
    /// The native event.
    pub(super) event: &'static NativeEvent,
}

impl Request {
    /// Parses a line.
    ///
    /// # Errors
    /// It names no event of the host: its id, null if it has none, and why.
    pub(super) fn parse(line: &Line, host: &Host) -> Result<Self, (Value, String)> {
        let (mut fields, payload) = match line {
            Line::Cut(start) => (read_head(start), Err(PayloadError::longer_than(MAX_LINE))),
            Line::Whole(line) => match protocol_json::read(line) {
                Ok(Value::Object(mut fields)) => {
                    let payload = fields.shift_remove("payload").unwrap_or_default();
                    (fields, Payload::try_from(payload))
                }
                _ => (read_head(line), Payload::parse(line)),
            },
        };
        let id = fields.shift_remove("id").unwrap_or_default();
        let Some(name) = fields.get("event").and_then(Value::as_str) else {
            return Err((id, "a request names no event".to_owned()));
        };
        let Some(event) = host.event(name) else { return Err((id, unknown_event(host, name))) };
        let cwd = fields.get("cwd").and_then(Value::as_str).unwrap_or("/").into();
        let payload = payload.map(|payload| payload.with_default("cwd", json!(cwd)));
        Ok(Self { head: Head { id, event }, cwd, payload })
    }
}

/// Returns the host's id of the root session, in payloads of our own plugins.
pub(super) fn session(payload: &Payload) -> Option<&str> {
    payload.text("session")
}

/// Reads the fields before the payload of a line that cannot be read as a whole.
fn read_head(line: &[u8]) -> Object {
    let start = &line[..line.len().min(MAX_HEAD)];
    let start = String::from_utf8_lossy(start);
    let head = start.split_once(BEFORE_PAYLOAD).map(|(head, _)| format!("{head}}}"));
    head.and_then(|head| serde_json::from_str(&head).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, (Value, String)> {
        let host = tenter_bridge::hosts::find("claude-code").unwrap();
        Request::parse(&Line::Whole(line.into()), host)
    }

    #[test]
    fn the_working_directory_is_part_of_the_payload_unless_that_has_one() {
        let request =
            parse(r#"{"id":1,"event":"Stop","cwd":"/p","payload":{"session":"s"}}"#).unwrap();
        let payload = request.payload.unwrap();
        assert_eq!((session(&payload), payload.text("cwd")), (Some("s"), Some("/p")));
        let request =
            parse(r#"{"id":1,"event":"Stop","cwd":"/p","payload":{"cwd":"/q"}}"#).unwrap();
        assert_eq!(request.payload.unwrap().text("cwd"), Some("/q"));
    }

    #[test]
    fn lines_that_cannot_be_read_as_a_whole_keep_their_id_and_event() {
        let host = tenter_bridge::hosts::find("claude-code").unwrap();
        let long = br#"{"id":7,"event":"PreToolUse","cwd":"/a\",\"payload\":b","payload":{"x":"#;
        let request = Request::parse(&Line::Cut(long.to_vec()), host).unwrap();
        assert_eq!((request.head.id, request.head.event.name), (json!(7), "PreToolUse"));
        assert!(request.payload.unwrap_err().to_string().contains("longer than 16 MiB"));
        let line = r#"{"id":"x","event":"PreToolUse","cwd":"/","payload":{"#;
        assert!(parse(line).unwrap().payload.is_err());
    }

    #[test]
    fn what_names_no_event_is_an_error_with_its_id() {
        let (id, error) = parse(r#"{"id":3,"event":"PreToolUs","payload":{}}"#).unwrap_err();
        assert_eq!(id, json!(3));
        assert!(error.contains("did you mean \"PreToolUse\"?"), "{error}");
        assert_eq!(parse("{}").unwrap_err().0, Value::Null);
        assert_eq!(parse("not JSON").unwrap_err().1, "a request names no event");
    }
}
