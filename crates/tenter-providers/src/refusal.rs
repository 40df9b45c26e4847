//! What a server's refusal means: whether it passes, what a person can do, or that the conversation is too long. Servers
//! say it with statuses, codes, types and prose, each in its own way; this is the one place that knows them.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;
use tenter_agent::model::{ModelError, Trouble};
use tenter_base::excerpt;
use tenter_engine::keys::KeyMask;

use crate::Endpoint;
use crate::http::Failure;

/// What a server said instead of answering.
#[derive(Debug, Default)]
pub(crate) struct Refusal<'r> {
    /// The HTTP status; none, or 200, for an error inside a stream.
    pub(crate) status: Option<u16>,
    /// The `retry-after` header.
    pub(crate) retry_after: Option<&'r str>,
    /// The body.
    pub(crate) body: &'r str,
}

/// What an error says beside the server's own words.
#[derive(Debug, Clone)]
pub(crate) struct Words {
    /// The model's whole name.
    model: String,
    /// The server's address, and the proxy before it.
    place: String,
    /// Whether the server is on this machine, without a proxy before it.
    is_here: bool,
    key_help: String,
    trust_help: String,
    /// Takes the key out of what a server says, and the password of a proxy.
    secrets: KeyMask,
}

impl Words {
    /// The words for a model behind `endpoint`, where `proxy` is the proxy's host and port.
    pub(crate) fn new(endpoint: &Endpoint, model: &str, proxy: Option<String>) -> Self {
        let address = endpoint.base_url.as_deref().unwrap_or(&endpoint.provider);
        let key = endpoint.key.as_ref().map(|key| key.reveal().to_owned());
        let password = endpoint.proxy.as_deref().and_then(password);
        Self {
            model: model.to_owned(),
            is_here: proxy.is_none() && is_loopback(address),
            place: match proxy {
                Some(proxy) => format!("{address} (through the proxy {proxy})"),
                None => address.to_owned(),
            },
            key_help: endpoint.key_help.clone(),
            trust_help: endpoint.trust_help.clone(),
            secrets: KeyMask::for_errors(key.into_iter().chain(password)),
        }
    }

    /// Why no response came, or none that is whole.
    pub(crate) fn transport(&self, failure: &Failure) -> ModelError {
        let message = format!("{}: {failure}", self.place);
        match failure {
            Failure::Untrusted => refused(message, Some(self.trust_help.clone())),
            Failure::Unusable(_) => refused(message, None),
            Failure::OverLimit(_) => refused(
                message,
                Some("`response_max_mib` and `response_timeout_s` in config.toml raise the limits".to_owned()),
            ),
            Failure::Refused(_) if self.is_here => refused(
                format!("nothing listens at {}", self.place),
                Some(
                    "is the model's server running? Start it, or give its address with --base-url or `base_url`"
                        .to_owned(),
                ),
            ),
            Failure::Refused(_) | Failure::Unreachable(_) => {
                ModelError::Passing { trouble: Trouble::Connection, message, retry_after: None }
            }
        }
    }

    /// What answers is no model.
    pub(crate) fn no_model(&self, problem: &str) -> ModelError {
        refused(format!("{} does not answer as a model does: {problem}", self.place), None)
    }

    /// The error without the key, whatever part of it a server has repeated, and not longer than can be read.
    pub(crate) fn scrubbed(&self, error: ModelError) -> ModelError {
        let clean = |text: String| shortened(&self.secrets.text(&text));
        match error {
            ModelError::Passing { trouble, message, retry_after } => {
                ModelError::Passing { trouble, message: clean(message), retry_after }
            }
            ModelError::TooLong { message } => ModelError::TooLong { message: clean(message) },
            ModelError::Refused { message, help } => {
                ModelError::Refused { message: clean(message), help }
            }
            ModelError::UnknownModel { message, help } => {
                ModelError::UnknownModel { message: clean(message), help }
            }
            other => other,
        }
    }
}

/// Whether an address is one of this machine.
fn is_loopback(address: &str) -> bool {
    let uri = address.parse::<http::Uri>().ok();
    let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
    let name = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let is_ip = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified());
    is_ip || name == "localhost" || name.ends_with(".localhost")
}

/// The password in a proxy's address.
fn password(proxy: &str) -> Option<String> {
    let rest = proxy.split_once("://").map_or(proxy, |(_, rest)| rest);
    let (user, _) = rest.rsplit_once('@')?;
    Some(user.split_once(':')?.1.to_owned())
}

/// Words by which servers say that a conversation is too long.
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

/// Words of a status in the five hundreds that the same request would meet again.
const CLIENT_MISTAKES: &[&str] =
    &["failed to parse", "unsupported tool type", "image input is not supported"];

impl Refusal<'_> {
    /// What it means.
    pub(crate) fn explain(&self, words: &Words) -> ModelError {
        let message = self.message(words);
        let all = self.body.to_lowercase();
        if TOO_LONG.iter().any(|said| all.contains(said)) {
            return ModelError::TooLong { message };
        }
        let key_refused = || {
            let message = format!("the key for {} is refused: {message}", words.model);
            refused(message, Some(words.key_help.clone()))
        };
        match self.status.unwrap_or(200) {
            200..300 => self.in_stream(&all, message, words),
            300..400 => refused(
                format!("the server points elsewhere (HTTP {})", self.status.unwrap_or_default()),
                Some(
                    "`base_url` has to be the address that answers: keys follow nobody".to_owned(),
                ),
            ),
            401 | 403 => key_refused(),
            // So says Google.
            400 if all.contains("api_key_invalid") => key_refused(),
            404 if !all.contains("model") => refused(
                format!("the server has nothing at that address for {}: {message}", words.model),
                Some(
                    "look at `base_url` or --base-url: for most servers it ends in /v1".to_owned(),
                ),
            ),
            404 => ModelError::UnknownModel {
                message: format!("the server does not know the model {}: {message}", words.model),
                help: Some("`tenter models` lists the models that are known".to_owned()),
            },
            413 => ModelError::TooLong { message },
            429 if all.contains("insufficient_quota") || all.contains("billing") => {
                refused(message, Some("see to the account's credit or limits".to_owned()))
            }
            429 => self.passing(Trouble::RateLimited, message),
            503 | 529 => self.passing(Trouble::Overloaded, message),
            408 | 409 | 425 => self.passing(Trouble::Server, message),
            500.. if !CLIENT_MISTAKES.iter().any(|said| all.contains(said)) => {
                self.passing(Trouble::Server, message)
            }
            status => refused(format!("the request is refused (HTTP {status}): {message}"), None),
        }
    }

    /// An error where a response had already begun.
    fn in_stream(&self, all: &str, message: String, words: &Words) -> ModelError {
        let says = |marks: &[&str]| marks.iter().any(|mark| all.contains(mark));
        if says(&["overloaded", "unavailable"]) {
            self.passing(Trouble::Overloaded, message)
        } else if says(&["rate_limit", "resource_exhausted"]) {
            self.passing(Trouble::RateLimited, message)
        } else if says(&["authentication_error", "permission_error"]) {
            refused(message, Some(words.key_help.clone()))
        } else if says(&["invalid_request_error", "invalid_argument", "content_policy"]) {
            refused(message, None)
        } else {
            self.passing(Trouble::Server, message)
        }
    }

    fn passing(&self, trouble: Trouble, message: String) -> ModelError {
        ModelError::Passing { trouble, message, retry_after: self.wait() }
    }

    /// The server's own words, without the object around them and without the key, which has to go before they are cut.
    fn message(&self, words: &Words) -> String {
        let parsed = serde_json::from_str::<Value>(self.body).ok();
        let said = parsed.as_ref().and_then(error_object).and_then(|error| {
            error.get("message").or(Some(error)).and_then(Value::as_str).map(str::to_owned)
        });
        match said {
            Some(message) if !message.is_empty() => shortened(&words.secrets.text(&message)),
            _ if self.body.trim().is_empty() => "the server gives no reason".to_owned(),
            _ => shortened(&words.secrets.text(self.body.trim())),
        }
    }

    /// How long the server wants to be left alone: its header, or Google's `retryDelay`.
    fn wait(&self) -> Option<Duration> {
        let seconds = |text: &str| text.trim().trim_end_matches('s').parse::<f64>().ok();
        let delay = || {
            let parsed = serde_json::from_str::<Value>(self.body).ok()?;
            let details = error_object(&parsed)?.get("details")?.as_array()?.clone();
            details.iter().find_map(|detail| seconds(detail.get("retryDelay")?.as_str()?))
        };
        let wait = self.retry_after.and_then(seconds).or_else(delay)?;
        Duration::try_from_secs_f64(wait).ok()
    }
}

/// The object that describes the error, wherever it stands.
fn error_object(body: &Value) -> Option<&Value> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let response = body.get("response").unwrap_or(body);
    response.get("error").filter(|error| !error.is_null()).or(Some(response))
}

fn refused(message: String, help: Option<String>) -> ModelError {
    ModelError::Refused { message, help }
}

/// Cuts a message: a server may reply with a whole page.
fn shortened(text: &str) -> String {
    const SHOWN: usize = 600;
    excerpt::chars(text, SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-test-0123456789abcdef";

    fn words(key: Option<&str>) -> Words {
        Words {
            model: "local/m".into(),
            place: "http://localhost:1".into(),
            is_here: true,
            key_help: "set KEY".into(),
            trust_help: String::new(),
            secrets: KeyMask::for_errors(key.map(str::to_owned)),
        }
    }

    #[test]
    fn no_part_of_a_key_is_shown_however_a_server_or_a_limit_cuts_it() {
        let said = |text: &str| {
            let refusal = Refusal { status: Some(400), body: text, retry_after: None };
            refusal.explain(&words(Some(KEY))).to_string()
        };
        for body in [
            format!("bad key {KEY}"),
            format!("bad key {}…", &KEY[..14]),
            format!("bad key …{}", &KEY[12..]),
            format!("POST /v1/chat?key={KEY}&x=1 Authorization: Bearer {KEY}"),
            // Where an error is cut to be shown, a key may be cut as well.
            format!("{}{KEY}", "x".repeat(600 - 14)),
        ] {
            let said = said(&body);
            assert!(said.contains("[key]") || said.ends_with('…'), "{said}");
            assert!(!said.contains("012345") && !said.contains("9abcde"), "{said}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_told_from_others() {
        for here in [
            "http://localhost:8080/v1",
            "https://127.0.0.1",
            "http://[::1]:1/v1",
            "http://a.localhost",
        ] {
            assert!(is_loopback(here), "{here}");
        }
        for other in [
            "http://example.com",
            "http://10.0.0.1:80",
            "http://localhost.example.com",
            "anthropic",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }

    fn explain(status: Option<u16>, body: &str) -> ModelError {
        let words = words(None);
        Refusal { status, body, retry_after: None }.explain(&words)
    }

    fn trouble(error: &ModelError) -> Option<Trouble> {
        match error {
            ModelError::Passing { trouble, .. } => Some(*trouble),
            _ => None,
        }
    }

    #[test]
    fn what_passes_is_told_from_what_does_not() {
        let cases = [
            (Some(429), "{}", Some(Trouble::RateLimited)),
            (Some(429), r#"{"error":{"code":"insufficient_quota"}}"#, None),
            (
                Some(529),
                r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
                Some(Trouble::Overloaded),
            ),
            (
                Some(503),
                r#"{"error":{"message":"Loading model","code":503}}"#,
                Some(Trouble::Overloaded),
            ),
            (Some(500), "", Some(Trouble::Server)),
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
                Some(Trouble::Overloaded),
            ),
            (
                Some(200),
                r#"{"error":{"code":500,"message":"did not match","type":"server_error"}}"#,
                Some(Trouble::Server),
            ),
            (
                Some(200),
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#,
                None,
            ),
        ];
        for (status, body, expected) in cases {
            assert_eq!(trouble(&explain(status, body)), expected, "{status:?} {body}");
        }
    }

    #[test]
    fn every_servers_way_to_say_too_long_is_known() {
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
    fn a_path_that_is_wrong_is_not_taken_for_a_model_that_is() {
        for body in ["", "404 page not found", r#"{"error":{"message":"File Not Found"}}"#] {
            let said = explain(Some(404), body).to_string();
            assert!(said.contains("nothing at that address for local/m"), "{said}");
        }
        for body in [
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#,
            r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#,
            r#"{"error":{"message":"models/m is not found for API version v1beta"}}"#,
        ] {
            let said = explain(Some(404), body).to_string();
            assert!(said.contains("does not know the model local/m"), "{said}");
        }
    }

    #[test]
    fn a_wait_is_read_from_the_header_or_from_googles_details() {
        let words = words(None);
        let wait = |retry_after, body| match (Refusal { status: Some(429), retry_after, body })
            .explain(&words)
        {
            ModelError::Passing { retry_after, .. } => retry_after,
            other => panic!("{other}"),
        };
        assert_eq!(wait(Some("7"), "{}"), Some(Duration::from_secs(7)));
        let details = r#"{"error":{"details":[{"@type":"a"},{"retryDelay":"34s"}]}}"#;
        assert_eq!(wait(None, details), Some(Duration::from_secs(34)));
        assert_eq!(wait(Some("Fri, 31 Dec 1999 23:59:59 GMT"), "{}"), None);
        assert_eq!(wait(Some("-1"), "{}"), None);
    }

    #[test]
    fn the_servers_words_are_shown_without_their_wrapping() {
        let said = |body| explain(Some(400), body).to_string();
        assert_eq!(
            said(r#"{"error":{"message":"no such field"}}"#),
            "the request is refused (HTTP 400): no such field"
        );
        assert_eq!(said(r#"{"error":"plain"}"#), "the request is refused (HTTP 400): plain");
        assert_eq!(said("<html>"), "the request is refused (HTTP 400): <html>");
        assert_eq!(said(""), "the request is refused (HTTP 400): the server gives no reason");
        assert!(said(&"ä".repeat(4000)).chars().count() < 700);
    }
}
