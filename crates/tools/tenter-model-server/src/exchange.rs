//! The route of a request, and the record of the requests that a server received.

use serde_json::Value;

use crate::Format;
use crate::http::{HttpRequest, find};
use crate::reading::Reading;

/// The API, the model and the delivery that a request asks for.
#[derive(Debug)]
pub struct Route {
    /// The API, from the path.
    pub format: Format,
    /// The name of the model.
    pub model: String,
    /// The form of the reply.
    pub delivery: Delivery,
}

/// The form in which a reply is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As one JSON value.
    Whole,
    /// As an event stream.
    Events,
    /// As a JSON array of chunks, which Gemini sends for a stream without `alt=sse`.
    Array,
}

/// The record of all requests.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The requests for a reply.
    pub requests: Vec<RecordedRequest>,
    /// All other requests.
    pub others: Vec<OtherRequest>,
    /// Violations of the rules of a player, and errors in the script.
    pub violations: Vec<String>,
    /// Number of clients that closed the connection before the end of their reply.
    pub(super) hang_ups: usize,
}

/// A request for a reply that the server received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The API, from the path.
    pub format: Format,
    /// The path with its query.
    pub path: String,
    /// The headers, in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// Number of tokens of the body, at four bytes each.
    pub tokens: u64,
    /// The lane of a lenient script that answered it; `main` outside of lanes, `side` for side requests.
    pub lane: String,
    /// The index of the turn in its lane, which may be after the last one; `None` outside of lanes.
    pub turn: Option<usize>,
}

impl RecordedRequest {
    /// Records a request outside of lanes.
    pub fn new(request: &HttpRequest, format: Format, body: &Value) -> Self {
        Self {
            format,
            path: request.target.clone(),
            headers: request.headers.clone(),
            body: body.clone(),
            tokens: request.tokens(),
            lane: "main".to_owned(),
            turn: None,
        }
    }

    /// Returns the value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Returns everything that the model reads, one string per message: the system prompt, the messages, the tool results. Calls
    /// and their arguments are left out.
    pub fn text(&self) -> Vec<String> {
        let messages = Reading::new(self.format, &self.body).messages;
        messages.into_iter().map(|message| message.text).collect()
    }

    /// Returns the names of the tools that the model may call.
    pub fn tools(&self) -> Vec<String> {
        Reading::new(self.format, &self.body).tools.into_iter().map(|tool| tool.name).collect()
    }
}

/// A request for something else than a reply: a list of models, a count of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherRequest {
    /// `GET`, `POST`, ….
    pub method: String,
    /// The path with its query.
    pub path: String,
}

impl OtherRequest {
    pub(super) fn new(request: &HttpRequest) -> Self {
        Self { method: request.method.clone(), path: request.target.clone() }
    }
}
