//! A request, and the response that a script selects for it; what is kept of requests.

use serde_json::Value;

use crate::Format;
use crate::http::{self, Request};
use crate::reading::Reading;
use crate::reply::Reply;

/// What the path and the body of a request ask for.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) format: Format,
    pub(super) model: String,
    pub(super) delivery: Delivery,
}

/// How a reply is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As one JSON value.
    Whole,
    /// As an event stream.
    Events,
    /// As a JSON array of chunks, which Gemini sends for a stream without `alt=sse`.
    Array,
}

/// The response to a request.
#[derive(Debug)]
pub(super) enum Verdict {
    /// A status and a body, independent of the replies.
    Fixed(u16, Value),
    /// A reply, whose ids are derived from `serial`.
    Reply { reply: Box<Reply>, route: Route, serial: usize, llama: bool },
}

/// What is kept of requests.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) requests: Vec<RecordedRequest>,
    pub(super) others: Vec<OtherRequest>,
    /// Violations of strict scripts, and errors in the script.
    pub(super) violations: Vec<String>,
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
    /// The index of the turn in its lane, which may be after the last one; `None` for side requests and in strict scripts.
    pub turn: Option<usize>,
}

impl RecordedRequest {
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        http::find(&self.headers, name)
    }

    /// Everything that the model reads, one string per message: the system prompt, the messages, the tool results. Calls and their
    /// arguments are left out.
    pub fn text(&self) -> Vec<String> {
        let messages = Reading::new(self.format, &self.body).messages;
        messages.into_iter().map(|message| message.text).collect()
    }

    /// The names of the tools that the model may call.
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
    pub(super) fn new(request: &Request) -> Self {
        Self { method: request.method.clone(), path: request.target.clone() }
    }
}

/// Number of tokens of a request body, at four bytes each.
pub(super) fn tokens(body: &[u8]) -> u64 {
    (body.len() as u64).div_ceil(4)
}
