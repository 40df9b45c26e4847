//! Interprets error responses: whether an error is temporary, what the user can do, or that the conversation is too long. Servers
//! express this with statuses, codes, types and prose; only this module knows them.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;
use tenter_agent::model::{ModelError, TransientCause};
use tenter_base::excerpt;
use tenter_engine::inspect::KeyMask;

use crate::Endpoint;
use tenter_http::TransportError;

/// An error response of a server.
#[derive(Debug, Default)]
pub(crate) struct ErrorResponse<'r> {
    /// The HTTP status; `None` or 200 for an error inside a stream.
    pub(crate) status: Option<u16>,
    /// The `retry-after` header.
    pub(crate) retry_after: Option<&'r str>,
    /// The body of the response.
    pub(crate) body: &'r str,
}

/// The context of an error message: the model, the server, and help for the user.
#[derive(Debug, Clone)]
pub(crate) struct ErrorContext {
    /// The full name of the model.
    model: String,
    /// The address of the server, with the proxy if any.
    address: String,
    /// The server is on this machine, and there is no proxy.
    is_local: bool,
    key_help: String,
    trust_help: String,
    /// Removes the key and the password of the proxy from messages.
    secrets: KeyMask,
}

impl ErrorContext {
    /// Creates the context for a model at `endpoint`; `proxy` is the host and port of the proxy.
    pub(crate) fn new(endpoint: &Endpoint, model: &str, proxy: Option<String>) -> Self {
        let address = endpoint.base_url.as_deref().unwrap_or(&endpoint.provider);
        let key = endpoint.key.as_ref().map(|key| key.reveal().to_owned());
        let password = endpoint.proxy.as_deref().and_then(password);
        Self {
            model: model.to_owned(),
            is_local: proxy.is_none() && is_loopback(address),
            address: match proxy {
                Some(proxy) => format!("{address} (through the proxy {proxy})"),
                None => address.to_owned(),
            },
            key_help: endpoint.key_help.clone(),
            trust_help: endpoint.trust_help.clone(),
            secrets: KeyMask::for_errors(key.into_iter().chain(password)),
        }
    }

    /// Returns the error for a failed or incomplete response.
    pub(crate) fn transport(&self, failure: &TransportError) -> ModelError {
        let message = format!("{}: {failure}", self.address);
        match failure {
            TransportError::Untrusted => refused(message, Some(self.trust_help.clone())),
            TransportError::Unusable(_) => refused(message, None),
            TransportError::OverLimit(_) => refused(
                message,
                Some("raise `response_max_mib` or `response_timeout_s` in config.toml".to_owned()),
            ),
            TransportError::Refused(_) if self.is_local => refused(
                format!("nothing listens at {}", self.address),
                Some(
                    "start the model server, or pass its address with --base-url or `base_url`"
                        .to_owned(),
                ),
            ),
            TransportError::Refused(_) | TransportError::Unreachable(_) => ModelError::Transient {
                cause: TransientCause::Connection,
                message,
                retry_after: None,
            },
        }
    }

    /// Returns the error for a server that does not speak the API.
    pub(crate) fn not_a_model(&self, problem: &str) -> ModelError {
        refused(format!("{} does not respond like a model server: {problem}", self.address), None)
    }

    /// Removes the key, or any part of it that the server repeats, and shortens the message.
    pub(crate) fn redact(&self, error: ModelError) -> ModelError {
        let clean = |text: String| shorten(&self.secrets.text(&text));
        match error {
            ModelError::Transient { cause, message, retry_after } => {
                ModelError::Transient { cause, message: clean(message), retry_after }
            }
            ModelError::TooLong { message } => ModelError::TooLong { message: clean(message) },
            ModelError::Rejected { message, help } => {
                ModelError::Rejected { message: clean(message), help }
            }
            ModelError::UnknownModel { message, help } => {
                ModelError::UnknownModel { message: clean(message), help }
            }
            other => other,
        }
    }
}

/// Returns whether an address is on this machine.
fn is_loopback(address: &str) -> bool {
    let uri = address.parse::<http::Uri>().ok();
    let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
    let name = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let is_ip = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified());
    is_ip || name == "localhost" || name.ends_with(".localhost")
}

/// Returns the password in the address of a proxy.
fn password(proxy: &str) -> Option<String> {
    let rest = proxy.split_once("://").map_or(proxy, |(_, rest)| rest);
    let (user, _) = rest.rsplit_once('@')?;
    Some(user.split_once(':')?.1.to_owned())
}

/// Phrases that mean that a conversation is too long.
const TOO_LONG: &[&str] = &[
    "exceed_context_size_error",
    "context_length_exceeded",
    "prompt is too long",
    "maximum context length",
    "exceeds the available context size",
    "exceeds the context window",
    "exceeds the maximum number of tokens",
    "request_too_large",
    "input length and `max_tokens` exceed context limit",
];

/// Phrases of a 5xx response that mean that a retry cannot succeed.
const CLIENT_MISTAKES: &[&str] =
    &["failed to parse", "unsupported tool type", "image input is not supported"];

impl ErrorResponse<'_> {
    /// Converts the response to an error.
    pub(crate) fn explain(&self, context: &ErrorContext) -> ModelError {
        let message = self.message(context);
        let all = self.body.to_lowercase();
        if TOO_LONG.iter().any(|phrase| all.contains(phrase)) {
            return ModelError::TooLong { message };
        }
        let key_refused = || {
            let message = format!("the key for {} is rejected: {message}", context.model);
            refused(message, Some(context.key_help.clone()))
        };
        match self.status.unwrap_or(200) {
            200..300 => self.in_stream(&all, message, context),
            300..400 => refused(
                format!(
                    "the server redirects to another address (HTTP {})",
                    self.status.unwrap_or_default()
                ),
                Some(
                    "set `base_url` to the final address: keys are not sent to redirects"
                        .to_owned(),
                ),
            ),
            401 | 403 => key_refused(),
            // Google's response to a wrong key.
            400 if all.contains("api_key_invalid") => key_refused(),
            404 if !all.contains("model") => refused(
                format!("nothing found at the address of {}: {message}", context.model),
                Some("check `base_url` or --base-url: for most servers it ends in /v1".to_owned()),
            ),
            404 => ModelError::UnknownModel {
                message: format!("the server does not know the model {}: {message}", context.model),
                help: Some("run `tenter models` to list the known models".to_owned()),
            },
            413 => ModelError::TooLong { message },
            429 if all.contains("insufficient_quota") || all.contains("billing") => {
                refused(message, Some("check the credit and the limits of your account".to_owned()))
            }
            429 => self.transient(TransientCause::RateLimited, message),
            503 | 529 => self.transient(TransientCause::Overloaded, message),
            408 | 409 | 425 => self.transient(TransientCause::Server, message),
            500.. if !CLIENT_MISTAKES.iter().any(|phrase| all.contains(phrase)) => {
                self.transient(TransientCause::Server, message)
            }
            status => {
                refused(format!("the server rejected the request (HTTP {status}): {message}"), None)
            }
        }
    }

    /// Converts an error inside a stream that had already started.
    fn in_stream(&self, all: &str, message: String, context: &ErrorContext) -> ModelError {
        let says = |marks: &[&str]| marks.iter().any(|mark| all.contains(mark));
        if says(&["overloaded", "unavailable"]) {
            self.transient(TransientCause::Overloaded, message)
        } else if says(&["rate_limit", "resource_exhausted"]) {
            self.transient(TransientCause::RateLimited, message)
        } else if says(&["authentication_error", "permission_error"]) {
            refused(message, Some(context.key_help.clone()))
        } else if says(&["invalid_request_error", "invalid_argument", "content_policy"]) {
            refused(message, None)
        } else {
            self.transient(TransientCause::Server, message)
        }
    }

    fn transient(&self, cause: TransientCause, message: String) -> ModelError {
        ModelError::Transient { cause, message, retry_after: self.wait() }
    }

    /// Returns the message of the server, without the surrounding JSON. The key is removed before the message is shortened.
    fn message(&self, context: &ErrorContext) -> String {
        let body = serde_json::from_str::<Value>(self.body).ok();
        let detail = body.as_ref().and_then(error_object).and_then(|error| {
            error.get("message").or(Some(error)).and_then(Value::as_str).map(str::to_owned)
        });
        match detail {
            Some(message) if !message.is_empty() => shorten(&context.secrets.text(&message)),
            _ if self.body.trim().is_empty() => "the server gave no reason".to_owned(),
            _ => shorten(&context.secrets.text(self.body.trim())),
        }
    }

    /// Returns the pause that the server asks for: its `retry-after` header, or Google's `retryDelay`.
    fn wait(&self) -> Option<Duration> {
        let seconds = |text: &str| text.trim().trim_end_matches('s').parse::<f64>().ok();
        let delay = || {
            let body = serde_json::from_str::<Value>(self.body).ok()?;
            let details = error_object(&body)?.get("details")?.as_array()?.clone();
            details.iter().find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?))
        };
        let wait = self.retry_after.and_then(seconds).or_else(delay)?;
        Duration::try_from_secs_f64(wait).ok()
    }
}

/// Returns the object that describes the error.
fn error_object(body: &Value) -> Option<&Value> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let response = body.get("response").unwrap_or(body);
    response.get("error").filter(|error| !error.is_null()).or(Some(response))
}

fn refused(message: String, help: Option<String>) -> ModelError {
    ModelError::Rejected { message, help }
}

/// Shortens a message: a server may respond with a whole page.
fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 600;
    excerpt::chars(text, MAX_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-test-0123456789abcdef";

    fn context(key: Option<&str>) -> ErrorContext {
        ErrorContext {
            model: "local/m".into(),
            address: "http://localhost:1".into(),
            is_local: true,
            key_help: "set KEY".into(),
            trust_help: String::new(),
            secrets: KeyMask::for_errors(key.map(str::to_owned)),
        }
    }

    #[test]
    fn no_part_of_a_key_is_shown() {
        let message = |text: &str| {
            let response = ErrorResponse { status: Some(400), body: text, retry_after: None };
            response.explain(&context(Some(KEY))).to_string()
        };
        for body in [
            format!("bad key {KEY}"),
            format!("bad key {}…", &KEY[..14]),
            format!("bad key …{}", &KEY[12..]),
            format!("POST /v1/chat?key={KEY}&x=1 Authorization: Bearer {KEY}"),
            // Where an error is cut to be shown, a key may be cut as well.
            format!("{}{KEY}", "x".repeat(600 - 14)),
        ] {
            let message = message(&body);
            assert!(message.contains("[key]") || message.ends_with('…'), "{message}");
            assert!(!message.contains("012345") && !message.contains("9abcde"), "{message}");
        }
    }

    #[test]
    fn loopback_addresses_are_recognised() {
        for here in *tenter_base::words!(
            "http://localhost:8080/v1 https://127.0.0.1 http://[::1]:1/v1 http://a.localhost"
        ) {
            assert!(is_loopback(here), "{here}");
        }
        for other in *tenter_base::words!(
            "http://example.com http://10.0.0.1:80 http://localhost.example.com anthropic"
        ) {
            assert!(!is_loopback(other), "{other}");
        }
    }

    fn explain(status: Option<u16>, body: &str) -> ModelError {
        let context = context(None);
        ErrorResponse { status, body, retry_after: None }.explain(&context)
    }

    fn cause(error: &ModelError) -> Option<TransientCause> {
        match error {
            ModelError::Transient { cause, .. } => Some(*cause),
            _ => None,
        }
    }

    #[test]
    fn temporary_errors_are_recognised() {
        let cases = [
            (Some(429), "{}", Some(TransientCause::RateLimited)),
            (Some(429), r#"{"error":{"code":"insufficient_quota"}}"#, None),
            (
                Some(529),
                r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
                Some(TransientCause::Overloaded),
            ),
            (
                Some(503),
                r#"{"error":{"message":"Loading model","code":503}}"#,
                Some(TransientCause::Overloaded),
            ),
            (Some(500), "", Some(TransientCause::Server)),
            (
                Some(500),
                r#"{"error":{"message":"Failed to parse tool call arguments as JSON"}}"#,
                None,
            ),
            (Some(400), r#"{"error":{"message":"bad"}}"#, None),
            (Some(401), "{}", None),
            (Some(308), "", None),
            (
                None,
                r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
                Some(TransientCause::Overloaded),
            ),
            (
                Some(200),
                r#"{"error":{"code":500,"message":"did not match","type":"server_error"}}"#,
                Some(TransientCause::Server),
            ),
            (
                Some(200),
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#,
                None,
            ),
        ];
        for (status, body, expected) in cases {
            assert_eq!(cause(&explain(status, body)), expected, "{status:?} {body}");
        }
    }

    #[test]
    fn too_long_conversations_are_recognised_for_every_server() {
        for body in [
            r#"{"error":{"code":400,"message":"request (12062 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":12062,"n_ctx":8192}}"#,
            r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}]"#,
        ] {
            assert!(matches!(explain(Some(400), body), ModelError::TooLong { .. }), "{body}");
        }
    }

    #[test]
    fn a_wrong_path_is_not_reported_as_an_unknown_model() {
        for body in ["", "404 page not found", r#"{"error":{"message":"File Not Found"}}"#] {
            let message = explain(Some(404), body).to_string();
            assert!(message.contains("nothing found at the address of local/m"), "{message}");
        }
        for body in [
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#,
            r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#,
            r#"{"error":{"message":"models/m is not found for API version v1beta"}}"#,
        ] {
            let message = explain(Some(404), body).to_string();
            assert!(message.contains("does not know the model local/m"), "{message}");
        }
    }

    #[test]
    fn the_retry_delay_is_read_from_the_header_or_from_googles_details() {
        let context = context(None);
        let wait =
            |retry_after, body| match (ErrorResponse { status: Some(429), retry_after, body })
                .explain(&context)
            {
                ModelError::Transient { retry_after, .. } => retry_after,
                other => panic!("{other}"),
            };
        assert_eq!(wait(Some("7"), "{}"), Some(Duration::from_secs(7)));
        let details = r#"{"error":{"details":[{"@type":"a"},{"retryDelay":"34s"}]}}"#;
        assert_eq!(wait(None, details), Some(Duration::from_secs(34)));
        assert_eq!(wait(Some("Fri, 31 Dec 1999 23:59:59 GMT"), "{}"), None);
        assert_eq!(wait(Some("-1"), "{}"), None);
    }

    #[test]
    fn the_message_of_the_server_is_shown_without_its_json() {
        let message = |body| explain(Some(400), body).to_string();
        assert_eq!(
            message(r#"{"error":{"message":"no such field"}}"#),
            "the server rejected the request (HTTP 400): no such field"
        );
        assert_eq!(
            message(r#"{"error":"plain"}"#),
            "the server rejected the request (HTTP 400): plain"
        );
        assert_eq!(message("<html>"), "the server rejected the request (HTTP 400): <html>");
        assert_eq!(
            message(""),
            "the server rejected the request (HTTP 400): the server gave no reason"
        );
        assert!(message(&"ä".repeat(4000)).chars().count() < 700);
    }
}
