//! A request for a reply of the model, and the response that a script selects for it.

use serde_json::Value;

use crate::http::Request;
use crate::reply::Reply;
use crate::{Format, RecordedRequest};

/// What the path and the body of a request ask for.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) format: Format,
    pub(super) model: String,
    /// Whether an event stream is requested.
    pub(super) streams: bool,
}

/// The response to a request.
#[derive(Debug)]
pub(super) enum Verdict {
    /// A status and a body, independent of the replies.
    Fixed(u16, Value),
    /// A reply, whose ids are derived from `serial`.
    Reply { reply: Box<Reply>, route: Route, serial: usize, llama: bool },
}

impl RecordedRequest {
    pub(super) fn new(request: &Request, route: &Route, body: &Value) -> Self {
        Self {
            format: route.format,
            path: request.target.clone(),
            headers: request.headers.clone(),
            body: body.clone(),
            tokens: tokens(&request.body),
        }
    }
}

/// Number of tokens of a request body, at four bytes each.
pub(super) fn tokens(body: &[u8]) -> u64 {
    (body.len() as u64).div_ceil(4)
}
