//! JSON-RPC 2.0 messages, one per line (S4).

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tenter_base::excerpt;
use thiserror::Error;

use super::{ErrorObject, RawJson};
use crate::json;

/// Maximum length of a line that a hook writes, in bytes, without its line break.
pub const MAX_LINE: usize = 1 << 20;
/// Maximum number of characters shown of a line that is not a message.
const SHOWN_CHARACTERS: usize = 60;

/// The id of a request. Each side chooses its own; the other side returns it unchanged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum Id {
    /// An integer.
    Number(i64),
    /// A string.
    Text(String),
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a string or an integer";
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::Text(text)),
            Value::Number(number) => {
                number.as_i64().map(Self::Number).ok_or_else(|| D::Error::custom(expected))
            }
            _ => Err(D::Error::custom(expected)),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuntimeMessage {
    /// Asks for a response.
    Request(Request),
    /// Asks for none.
    Notification(Notification),
    /// The response to a request.
    Response(Response),
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its id, which the response repeats.
    pub id: Id,
    /// The method.
    pub method: String,
    /// The parameters, if there are any.
    pub params: Option<RawJson>,
}

/// A request that is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The method.
    pub method: String,
    /// The parameters, if there are any.
    pub params: Option<RawJson>,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The id of the request.
    pub id: Id,
    /// The result, or why there is none.
    pub result: Result<RawJson, ErrorObject>,
}

/// The reason why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LineError {
    /// The line is longer than [`MAX_LINE`].
    #[error("a line is longer than 1 MiB")]
    TooLong,
    /// The line is not JSON; shows its beginning.
    #[error("a line is not JSON: {0:?}; print to stderr instead")]
    Json(String),
    /// The line has several messages.
    #[error("a line has several messages; batches are not supported")]
    Batch,
    /// The line is JSON and not a message; says why.
    #[error("a line is not a JSON-RPC message: {0}")]
    NotAMessage(String),
}

/// A message as it is read.
#[derive(Deserialize)]
struct Parts {
    jsonrpc: String,
    #[serde(default)]
    id: Option<Id>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<RawJson>,
    #[serde(default, deserialize_with = "present")]
    result: Option<RawJson>,
    #[serde(default)]
    error: Option<ErrorObject>,
}

/// Tells `null` from a field that is missing.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A message as it is written.
#[derive(Serialize)]
struct Written<'m> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'m RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'m RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'m ErrorObject>,
}

const EMPTY: Written<'static> =
    Written { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

/// Reads one line of a hook, with or without its line break. An empty line is no message.
///
/// # Errors
/// The line is not one message within the limits.
pub fn read_line(line: &[u8]) -> Result<Option<RuntimeMessage>, LineError> {
    if line.trim_ascii().len() > MAX_LINE {
        return Err(LineError::TooLong);
    }
    read_message(line)
}

/// Reads one line of an agent, which may be of any length, with or without its line break. An empty line is no message.
///
/// # Errors
/// The line is not one message.
pub fn read_message(line: &[u8]) -> Result<Option<RuntimeMessage>, LineError> {
    let line = json::trim(line);
    match line.first() {
        None => return Ok(None),
        Some(b'[') => return Err(LineError::Batch),
        Some(_) => {}
    }
    let parts: Parts = json::read_as(line).map_err(|error| {
        if error.is_data() {
            LineError::NotAMessage(bound(&error.to_string()))
        } else {
            LineError::Json(bound(&String::from_utf8_lossy(line)))
        }
    })?;
    message(parts).map(Some).map_err(LineError::NotAMessage)
}

fn bound(text: &str) -> String {
    excerpt::chars(text, SHOWN_CHARACTERS).to_string()
}

fn message(parts: Parts) -> Result<RuntimeMessage, String> {
    let Parts { jsonrpc, id, method, params, result, error } = parts;
    if jsonrpc != "2.0" {
        return Err(format!("`jsonrpc` must be \"2.0\", not {:?}", bound(&jsonrpc)));
    }
    let is_object_or_list = |params: &RawJson| params.is_object() || params.text().starts_with('[');
    if let Some(params) = params.as_ref().filter(|params| !is_object_or_list(params)) {
        return Err(format!("`params` must be an object, not {}", bound(params.text())));
    }
    match (method, result, error, id) {
        (Some(method), None, None, Some(id)) => {
            Ok(RuntimeMessage::Request(Request { id, method, params }))
        }
        (Some(method), None, None, None) => {
            Ok(RuntimeMessage::Notification(Notification { method, params }))
        }
        (None, Some(result), None, Some(id)) => {
            Ok(RuntimeMessage::Response(Response { id, result: Ok(result) }))
        }
        (None, None, Some(error), Some(id)) => {
            Ok(RuntimeMessage::Response(Response { id, result: Err(error) }))
        }
        (None, None, Some(error), _) => {
            Err(format!("it reports an error: {}", bound(&error.message)))
        }
        (Some(_), ..) => {
            Err("a request has no `result` or `error`, and its `id` is a string or an integer"
                .to_owned())
        }
        (None, Some(_), None, _) => Err("a response needs an `id`".to_owned()),
        (None, ..) => Err("it needs a `method`, a `result` or an `error`".to_owned()),
    }
}

impl RuntimeMessage {
    /// Returns the message as a line, with its line break.
    pub fn to_line(&self) -> String {
        json::to_line(&match self {
            Self::Request(Request { id, method, params }) => {
                Written { id: Some(id), method: Some(method), params: params.as_ref(), ..EMPTY }
            }
            Self::Notification(Notification { method, params }) => {
                Written { method: Some(method), params: params.as_ref(), ..EMPTY }
            }
            Self::Response(Response { id, result }) => Written {
                id: Some(id),
                result: result.as_ref().ok(),
                error: result.as_ref().err(),
                ..EMPTY
            },
        })
    }
}

impl Response {
    /// Returns the response as a line, with its line break.
    pub fn to_line(&self) -> String {
        let Self { id, result } = self;
        json::to_line(&Written {
            id: Some(id),
            result: result.as_ref().ok(),
            error: result.as_ref().err(),
            ..EMPTY
        })
    }
}

/// Returns a request of the agent's as a line.
pub fn request<P: Serialize>(id: u64, method: &str, params: &P) -> String {
    event_request(id, method, &json::to_string(params))
}

/// Returns the request for an event as a line. `payload` is the payload of the one-shot form: JSON on one line.
pub fn event_request(id: u64, method: &str, payload: &str) -> String {
    let (method, payload) = (json::to_string(method), payload.trim_end());
    format!("{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"method\": {method}, \"params\": {payload}}}\n")
}

/// Returns a notification of the agent's as a line.
pub fn notification<P: Serialize>(method: &str, params: Option<&P>) -> String {
    let params = params.map(RawJson::new);
    json::to_line(&Written { method: Some(method), params: params.as_ref(), ..EMPTY })
}

#[cfg(test)]
mod tests;
