//! Requests to authorization servers: JSON and forms, with small responses. No redirect is followed.

use std::time::Duration;

use form_urlencoded::Serializer;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use tenter_base::one_line;
use tenter_http::{Authorities, Http, ResponseLimits, StreamTail};
use tenter_proc::Cancel;
use tenter_protocol::manifest::http_endpoint::check_url;

/// Limits of a response.
const LIMITS: ResponseLimits = ResponseLimits { bytes: 1 << 20, time: Duration::from_secs(30) };
/// Maximum number of characters of a server's explanation.
const MAX_EXPLANATION: usize = 300;

/// The way to servers: proxies and trusted certificate authorities.
#[derive(Clone, Copy)]
pub struct Network<'n> {
    /// Returns the address of the proxy for a URL, if any.
    pub proxy: &'n dyn Fn(&str) -> Option<String>,
    /// The trusted certificate authorities; `None` means Mozilla's list.
    pub authorities: Option<&'n Authorities>,
    /// Ends a request.
    pub cancel: &'n Cancel,
}

/// A response.
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Vec<u8>,
}

impl Network<'_> {
    /// Gets a JSON object; `None` if there is none at this URL.
    pub(super) fn get(&self, url: &str) -> Result<Option<Value>, String> {
        let response = self.send(Method::GET, url, (None, Vec::new()))?;
        Ok(response.status.is_success().then(|| response.json()).flatten())
    }

    /// Posts JSON.
    pub(super) fn post_json(&self, url: &str, body: &Value) -> Result<Response, String> {
        self.send(Method::POST, url, (Some("application/json"), body.to_string().into_bytes()))
    }

    /// Posts a form.
    pub(super) fn post_form(&self, url: &str, fields: &[(&str, &str)]) -> Result<Response, String> {
        let form = Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(Method::POST, url, (Some("application/x-www-form-urlencoded"), form.into_bytes()))
    }

    fn send(
        &self,
        method: Method,
        url: &str,
        (content_type, body): (Option<&str>, Vec<u8>),
    ) -> Result<Response, String> {
        check_url(url).map_err(|why| format!("the URL {url} {why}"))?;
        let failure = |error: &dyn std::fmt::Display| format!("{url}: {error}");
        let proxy = (self.proxy)(url);
        let http = Http::new(proxy.as_deref(), self.authorities.cloned(), LIMITS.time, LIMITS)
            .map_err(|error| failure(&error))?;
        let mut request = Request::builder().method(method).uri(url);
        request = request.header(ACCEPT, "application/json, text/event-stream");
        request = request.header(ACCEPT_ENCODING, "identity");
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(body).map_err(|error| failure(&error))?;
        let response = http
            .send(request, self.cancel, &StreamTail::default())
            .map_err(|error| failure(&error))?;
        let (head, chunks) = response.into_parts();
        // A server may keep the stream of an answer open: its head is enough then.
        let is_stream = head.headers.get(CONTENT_TYPE).is_some_and(|kind| {
            kind.to_str().is_ok_and(|kind| kind.starts_with("text/event-stream"))
        });
        let body = if is_stream {
            Vec::new()
        } else {
            chunks.collect::<Result<Vec<_>, _>>().map_err(|error| failure(&error))?.concat()
        };
        Ok(Response { status: head.status, headers: head.headers, body })
    }
}

impl Response {
    /// Returns the JSON object in the body.
    pub(super) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok().filter(Value::is_object)
    }

    /// Returns the JSON object of a successful response.
    ///
    /// # Errors
    /// The server refused, with its explanation.
    pub(super) fn accepted(&self, what: &str) -> Result<Value, String> {
        let object = self.json();
        if let Some(object) = object.as_ref().filter(|_| self.status.is_success()) {
            return Ok(object.clone());
        }
        let field = |name: &str| object.as_ref()?.get(name)?.as_str().map(str::to_owned);
        let explanation = field("error_description").or_else(|| field("error"));
        let explanation = explanation.map(|text| one_line(&text, MAX_EXPLANATION));
        let status = self.status.as_u16();
        Err(match explanation {
            Some(text) => format!("{what} was refused: {text} (HTTP {status})"),
            None => format!("{what} was refused (HTTP {status})"),
        })
    }
}
