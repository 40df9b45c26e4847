//! The interface of players: a player selects the response to each request.

use std::fmt::Debug;

use serde_json::Value;

use crate::exchange::{Evidence, Route};
use crate::http::HttpRequest;
use crate::reply::ModelReply;

/// A script that is played.
pub trait Player: Debug + Send {
    /// Adds a reply to the script.
    fn push(&mut self, reply: ModelReply);

    /// Returns the number of replies that are not used yet; 0 if replies can be used again.
    fn unused(&self) -> usize;

    /// Records a request and selects its response.
    fn respond(&mut self, request: &HttpRequest, body: &Value, evidence: &mut Evidence)
    -> Response;
}

/// The response to a request.
#[derive(Debug)]
pub enum Response {
    /// A status and a body, independent of the replies.
    Fixed(u16, Value),
    /// A reply of the script.
    Scripted(Box<ScriptedResponse>),
}

/// A reply to one request.
#[derive(Debug)]
pub struct ScriptedResponse {
    /// The reply.
    pub reply: ModelReply,
    /// The API, the model and the delivery that the request asks for.
    pub route: Route,
    /// The number of the reply, from which its ids are derived.
    pub serial: usize,
    /// True if the peculiarities of llama.cpp's server are imitated.
    pub llama: bool,
}
