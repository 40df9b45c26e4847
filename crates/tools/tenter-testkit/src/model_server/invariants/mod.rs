//! The rules for requests: one module per API, and the common rules.
//!
//! A rule exists if the provider rejects requests that break it, or if a careful client has no reason to break it. Unknown fields
//! are violations.

mod anthropic;
mod chat;
mod gemini;
mod media;
mod responses;
mod tools;
mod turns;

use serde_json::Value;
use tenter_model_server::{Format, HttpRequest};

use super::ledger::Replayed;
use super::violations::Violations;

/// A request to check.
pub(super) struct CheckedRequest<'a> {
    pub(super) request: &'a HttpRequest,
    pub(super) body: &'a Value,
    /// True if an event stream is requested.
    pub(super) streams: bool,
    /// True if the server requires no key.
    pub(super) keyless: bool,
}

/// Checks a request. Returns the parts of earlier replies that it repeats.
pub(super) fn check(
    format: Format,
    request: &CheckedRequest,
    violations: &mut Violations,
) -> Vec<Replayed> {
    content_type(request, violations);
    query(format, request, violations);
    key(format, request, violations);
    if !request.body.is_object() {
        violations.add("body", "must be a JSON object");
        return Vec::new();
    }
    match format {
        Format::Anthropic => anthropic::check(request, violations),
        Format::Responses => responses::check(request, violations),
        Format::Chat => chat::check(request, violations),
        Format::Gemini => gemini::check(request, violations),
    }
}

/// Returns the key of a request.
pub(super) fn key_of(format: Format, request: &HttpRequest) -> Option<&str> {
    let bearer = || request.header("authorization")?.strip_prefix("Bearer ");
    match format {
        Format::Anthropic => request.header("x-api-key").or_else(bearer),
        Format::Responses | Format::Chat => bearer(),
        Format::Gemini => request.header("x-goog-api-key"),
    }
}

fn content_type(request: &CheckedRequest, violations: &mut Violations) {
    let kind = request.request.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    violations.demand(kind == "application/json", "content-type", "must be application/json");
}

/// Checks the query. Keys must not be in the address, because addresses are logged.
fn query(format: Format, request: &CheckedRequest, violations: &mut Violations) {
    let query = request.request.target.split_once('?').map_or("", |(_, query)| query);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair {
            "alt=sse" if format == Format::Gemini => {}
            "beta=true" if format == Format::Anthropic => {}
            _ => {
                let name = pair.split('=').next().unwrap_or_default();
                let problem = format!("`{name}` must not be in the address");
                violations.add("query", &problem);
            }
        }
    }
    let sse = query.split('&').any(|pair| pair == "alt=sse");
    violations.demand(
        format != Format::Gemini || sse == request.streams,
        "query",
        "alt=sse must be present exactly if the request streams",
    );
}

fn key(format: Format, request: &CheckedRequest, violations: &mut Violations) {
    if request.keyless {
        return;
    }
    let name = match format {
        Format::Anthropic => "x-api-key",
        Format::Responses | Format::Chat => "authorization: Bearer",
        Format::Gemini => "x-goog-api-key",
    };
    // Only tokens of another kind than API keys go to Anthropic as `Bearer`.
    let key = match format {
        Format::Anthropic => request.request.header("x-api-key"),
        _ => key_of(format, request.request),
    };
    violations.demand(key.is_some_and(|key| !key.is_empty()), name, "the key is missing");
    if format == Format::Anthropic {
        let version = request.request.header("anthropic-version");
        violations.demand(version == Some("2023-06-01"), "anthropic-version", "must be 2023-06-01");
    }
}

/// Returns the elements of an array; empty if it is not an array.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Checks the repeated arguments of a call, which are JSON text.
fn arguments(value: &Value, at: &str, violations: &mut Violations) {
    let arguments = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    violations.demand(
        arguments.is_some_and(|arguments| arguments.is_object()),
        &format!("{at}.arguments"),
        "must be the text of a JSON object",
    );
}
