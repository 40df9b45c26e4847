//! One POST of JSON with a JSON response, for hooks behind HTTP.

use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use serde_json::Value;
use tenter_proc::Cancel;
use tenter_protocol::json;

use crate::transport::{Http, StreamTail, TransportError};
use crate::{Authorities, Key, ResponseLimits};

/// Maximum size of a response in bytes.
const MAX_RESPONSE: u64 = 1 << 20;

/// A POST of JSON.
#[derive(Debug, Clone)]
pub struct JsonPost {
    /// The URL.
    pub url: String,
    /// Names and values of headers, besides those about the body.
    pub headers: Vec<(String, Key)>,
    /// The body, which is JSON.
    pub body: Vec<u8>,
    /// The address of the proxy, if any.
    pub proxy: Option<String>,
    /// The trusted certificate authorities; `None` means Mozilla's list.
    pub authorities: Option<Authorities>,
    /// Maximum time until the whole response is there.
    pub timeout: Duration,
}

/// The failure of a POST. It contains neither a header's value nor the URL's query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostError {
    /// The cause, as a sentence.
    pub message: String,
    /// True if no trusted authority signed the server's certificate.
    pub is_untrusted: bool,
    /// The status of the response, if there was one.
    pub status: Option<u16>,
}

/// Sends a POST, once. Returns the text of the JSON object in the response; `None` if the response is empty or `null`.
///
/// No redirect is followed. A response that is not successful, not JSON, compressed, or larger than 1 MiB is an error.
///
/// # Errors
/// There is no usable response.
pub fn post_json(post: JsonPost, cancel: &Cancel) -> Result<Option<String>, PostError> {
    let server = without_query(&post.url).to_owned();
    let mut status = None;
    exchange(post, &mut status, cancel).map_err(|error| {
        let is_untrusted = matches!(error, Error::Transport(TransportError::Untrusted));
        let message = match error {
            Error::Transport(error) => format!("{server}: {error}"),
            Error::Response(why) => format!("{server} {why}"),
            Error::Request(message) => message,
        };
        PostError { message, is_untrusted, status }
    })
}

/// The reason for which there is no usable response.
enum Error {
    /// The request cannot be sent.
    Request(String),
    /// There is no response, or only a part of it.
    Transport(TransportError),
    /// The response cannot be used, as the end of a sentence that begins with the server.
    Response(String),
}

impl From<TransportError> for Error {
    fn from(error: TransportError) -> Self {
        Self::Transport(error)
    }
}

fn exchange(
    post: JsonPost,
    status: &mut Option<u16>,
    cancel: &Cancel,
) -> Result<Option<String>, Error> {
    let limits = ResponseLimits { bytes: MAX_RESPONSE, time: post.timeout };
    let http = Http::new(post.proxy.as_deref(), post.authorities.clone(), post.timeout, limits)?;
    let response = http.send(request(post)?, cancel, &StreamTail::default())?;
    let (head, chunks) = response.into_parts();
    *status = Some(head.status.as_u16());
    check_status(head.status)?;
    let body = chunks.collect::<Result<Vec<_>, _>>()?.concat();
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    check_headers(&head.headers)?;
    text_of_object(&body)
}

fn request(post: JsonPost) -> Result<Request<Vec<u8>>, Error> {
    let mut request = Request::post(&post.url)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json")
        .header(ACCEPT_ENCODING, "identity");
    for (name, value) in &post.headers {
        let invalid =
            |what| Error::Request(format!("the {what} of the header {name} is not valid"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("name"))?;
        let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| invalid("value"))?;
        value.set_sensitive(true);
        request = request.header(header, value);
    }
    request.body(post.body).map_err(|_| Error::Request("the URL is not valid".to_owned()))
}

fn check_status(status: StatusCode) -> Result<(), Error> {
    Err(Error::Response(if status.is_success() {
        return Ok(());
    } else if status.is_redirection() {
        format!("redirects to another address ({}), which is not followed", code(status))
    } else {
        format!("responded with {}", code(status))
    }))
}

/// Returns `HTTP 500 Internal Server Error`.
fn code(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    }
}

fn check_headers(headers: &HeaderMap) -> Result<(), Error> {
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    if let Some(coding) = text(CONTENT_ENCODING).filter(|coding| coding != "identity") {
        let why = format!("compressed its response ({coding:?}), which it was asked not to do");
        return Err(Error::Response(why));
    }
    let Some(kind) = text(CONTENT_TYPE) else {
        return Err(Error::Response(
            "did not say that its response is application/json".to_owned(),
        ));
    };
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    if is_json {
        return Ok(());
    }
    Err(Error::Response(format!("responded with {essence:?} instead of application/json")))
}

/// Returns the text of a body that is one JSON object; `None` if it is `null`.
fn text_of_object(body: &[u8]) -> Result<Option<String>, Error> {
    match json::read(body) {
        Ok(Value::Object(_)) => Ok(Some(String::from_utf8_lossy(body).into_owned())),
        Ok(Value::Null) => Ok(None),
        Ok(_) => Err(Error::Response("responded with JSON that is not an object".to_owned())),
        Err(error) => Err(Error::Response(format!("responded with invalid JSON: {error}"))),
    }
}

/// Returns a URL without its query, which may contain a secret.
fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}
