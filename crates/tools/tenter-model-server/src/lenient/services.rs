//! The services of a provider besides replies: lists of models and counts of tokens. Any other path gets an empty object.

use serde_json::{Value, json};

use crate::Format;
use crate::http::HttpRequest;
use crate::player::Response;
use crate::wire::failure;

/// The window that is reported for every model.
const WINDOW: u64 = 200_000;

/// Answers a request that is not for a reply.
pub(super) fn answer(request: &HttpRequest, models: &[String]) -> Response {
    if request.header("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket")) {
        let refusal = failure::rejection(Format::Responses, "no WebSocket here");
        return Response::Fixed(426, refusal);
    }
    let path = request.path();
    let body = match request.method.as_str() {
        "POST" => count(path, request.tokens().max(1)),
        "GET" if path.ends_with("/models") => list(path, models),
        "GET" => one(path, models),
        _ => json!({}),
    };
    Response::Fixed(200, body)
}

fn count(path: &str, tokens: u64) -> Value {
    match path {
        _ if path.ends_with("/count_tokens") => json!({"input_tokens": tokens}),
        _ if path.ends_with("/input_tokens") => {
            json!({"object": "response.input_tokens", "input_tokens": tokens})
        }
        _ if path.ends_with(":countTokens") => json!({"totalTokens": tokens}),
        _ => json!({}),
    }
}

fn list(path: &str, models: &[String]) -> Value {
    if path.contains("/v1beta") {
        let models: Vec<Value> = models.iter().map(|name| gemini(name)).collect();
        return json!({"models": models});
    }
    let data: Vec<Value> = models.iter().map(|name| model(name)).collect();
    json!({
        "object": "list", "data": data, "has_more": false,
        "first_id": models.first(), "last_id": models.last(),
    })
}

/// Returns the model that the path names, if it is in the list.
fn one(path: &str, models: &[String]) -> Value {
    let Some((before, name)) = path.rsplit_once('/') else { return json!({}) };
    if !before.ends_with("/models") || !models.iter().any(|one| one == name) {
        return json!({});
    }
    if path.contains("/v1beta") { gemini(name) } else { model(name) }
}

/// Returns a model with the fields of OpenAI and of Anthropic.
fn model(name: &str) -> Value {
    json!({
        "id": name, "object": "model", "created": 1_767_225_600, "owned_by": "tenter",
        "type": "model", "display_name": name, "created_at": "2026-01-01T00:00:00Z",
        "context_length": WINDOW, "max_input_tokens": WINDOW, "max_tokens": 64_000,
    })
}

fn gemini(name: &str) -> Value {
    json!({
        "name": format!("models/{name}"), "displayName": name, "version": "001",
        "inputTokenLimit": WINDOW, "outputTokenLimit": 64_000,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}
