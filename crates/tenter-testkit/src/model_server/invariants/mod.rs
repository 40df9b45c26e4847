//! What every request has to be, whatever the script says: one module per format, and what they have in common.
//!
//! A rule is here when the provider refuses what breaks it, or when a careful client has no reason to break it. Nothing is
//! repaired, and nothing is overlooked: fields that a format does not have are a finding.

mod anthropic;
mod chat;
mod gemini;
mod media;
mod responses;
mod tools;
mod turns;

use serde_json::Value;

use super::Format;
use super::findings::Findings;
use super::http::{Request, find};
use super::ledger::Replayed;

/// A request to look over.
pub(super) struct Seen<'a> {
    pub(super) request: &'a Request,
    pub(super) body: &'a Value,
    /// Whether an event stream is asked for.
    pub(super) streams: bool,
    /// Whether the server asks for no key.
    pub(super) keyless: bool,
}

/// Looks a request over. What it repeats of earlier answers comes back.
pub(super) fn check(format: Format, seen: &Seen, findings: &mut Findings) -> Vec<Replayed> {
    content_type(seen, findings);
    query(format, seen, findings);
    key(format, seen, findings);
    if !seen.body.is_object() {
        findings.add("body", "must be a JSON object");
        return Vec::new();
    }
    match format {
        Format::Anthropic => anthropic::check(seen, findings),
        Format::Responses => responses::check(seen, findings),
        Format::Chat => chat::check(seen, findings),
        Format::Gemini => gemini::check(seen, findings),
    }
}

/// The key that a request shows.
pub(super) fn key_of(format: Format, headers: &[(String, String)]) -> Option<&str> {
    let bearer = || find(headers, "authorization")?.strip_prefix("Bearer ");
    match format {
        Format::Anthropic => find(headers, "x-api-key").or_else(bearer),
        Format::Responses | Format::Chat => bearer(),
        Format::Gemini => find(headers, "x-goog-api-key"),
    }
}

fn content_type(seen: &Seen, findings: &mut Findings) {
    let kind = find(&seen.request.headers, "content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    findings.demand(kind == "application/json", "content-type", "must be application/json");
}

/// Keys in an address end up in logs: no format needs one there.
fn query(format: Format, seen: &Seen, findings: &mut Findings) {
    let query = seen.request.target.split_once('?').map_or("", |(_, query)| query);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair {
            "alt=sse" if format == Format::Gemini => {}
            "beta=true" if format == Format::Anthropic => {}
            _ => {
                let name = pair.split('=').next().unwrap_or_default();
                let problem =
                    format!("`{name}` does not belong into the address; a key least of all");
                findings.add("query", &problem);
            }
        }
    }
    let sse = query.split('&').any(|pair| pair == "alt=sse");
    findings.demand(
        format != Format::Gemini || sse == seen.streams,
        "query",
        "alt=sse is there when an answer streams, and only then",
    );
}

fn key(format: Format, seen: &Seen, findings: &mut Findings) {
    if seen.keyless {
        return;
    }
    let headers = &seen.request.headers;
    let name = match format {
        Format::Anthropic => "x-api-key",
        Format::Responses | Format::Chat => "authorization: Bearer",
        Format::Gemini => "x-goog-api-key",
    };
    // Only tokens of another kind than API keys go to Anthropic as `Bearer`.
    let shown = match format {
        Format::Anthropic => find(headers, "x-api-key"),
        _ => key_of(format, headers),
    };
    findings.demand(shown.is_some_and(|key| !key.is_empty()), name, "the key is missing");
    if format == Format::Anthropic {
        let version = find(headers, "anthropic-version");
        findings.demand(version == Some("2023-06-01"), "anthropic-version", "must be 2023-06-01");
    }
}

/// The elements of an array; none when it is no array.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The arguments of a call that a request repeats, as a text.
fn arguments(value: &Value, at: &str, findings: &mut Findings) {
    let read = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    findings.demand(
        read.is_some_and(|read| read.is_object()),
        &format!("{at}.arguments"),
        "must be the text of a JSON object",
    );
}
