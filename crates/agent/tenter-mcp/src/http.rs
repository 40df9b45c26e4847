//! The transport of servers behind HTTP: the SDK's protocol over our own connections, which block. Each request has a thread.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, thread};

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::request::Builder;
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tenter_http::{HttpClient, HttpSettings, ResponseLimits, StreamedBody};
use tenter_proc::Cancel;
use tokio::sync::{mpsc, oneshot};

use crate::definition::{Authorization, HttpServer};

/// Maximum size of one message in bytes: a result may contain images.
const MAX_MESSAGE: usize = 16 << 20;
/// Maximum size of the body of an error that is quoted, in bytes.
const MAX_QUOTED: usize = 4 << 10;
/// Number of chunks that are read ahead.
const READ_AHEAD: usize = 4;
/// Maximum time without a byte: servers keep streams open while they have nothing to say.
const IDLE: Duration = Duration::from_hours(1);
/// Limits of one stream.
const LIMITS: ResponseLimits = ResponseLimits { bytes: 1 << 30, time: Duration::from_hours(24) };
/// The session that the server chose.
const SESSION: &str = "mcp-session-id";
/// The last event that was received.
const LAST_EVENT: &str = "last-event-id";

type HttpError = StreamableHttpError<ConnectionError>;

/// The reason why a request got no response.
#[derive(Debug)]
pub(crate) struct ConnectionError(String);

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ConnectionError {}

fn failed(why: impl Into<String>) -> HttpError {
    StreamableHttpError::Client(ConnectionError(why.into()))
}

/// Returns the transport for a server.
///
/// # Errors
/// A header or the address of the proxy is not valid.
pub(crate) fn transport(
    server: HttpServer,
) -> Result<StreamableHttpClientTransport<Connector>, String> {
    let HttpServer { url, headers, proxy, authorities, authorization } = server;
    let client =
        HttpClient::new(HttpSettings { proxy, authorities, idle_timeout: IDLE, limits: LIMITS })?;
    let mut own = HeaderMap::new();
    for (name, value) in headers {
        let invalid = |what| format!("the {what} of the header {name:?} is not valid");
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("name"))?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| invalid("value"))?;
        value.set_sensitive(true);
        own.insert(header, value);
    }
    let connector = Connector { client, own: Arc::new(own), authorization };
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    Ok(StreamableHttpClientTransport::with_client(connector, config))
}

/// Sends the SDK's requests.
#[derive(Clone)]
pub(crate) struct Connector {
    client: HttpClient,
    /// The headers of the configuration.
    own: Arc<HeaderMap>,
    /// The header of a login.
    authorization: Option<Authorization>,
}

/// The body of a response. Dropping it ends the request.
struct Body {
    chunks: mpsc::Receiver<Result<Vec<u8>, String>>,
    cancel: Cancel,
}

impl Drop for Body {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Body {
    /// Returns the whole body, if it is not longer than `max`.
    async fn read(mut self, max: usize) -> Result<Vec<u8>, HttpError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunks.recv().await {
            bytes.extend(chunk.map_err(failed)?);
            if bytes.len() > max {
                return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: max });
            }
        }
        Ok(bytes)
    }

    /// Returns the beginning of the body as text.
    async fn read_excerpt(mut self) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < MAX_QUOTED
            && let Some(Ok(chunk)) = self.chunks.recv().await
        {
            bytes.extend(chunk);
        }
        bytes.truncate(MAX_QUOTED);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the events of the body.
    fn events(self) -> BoxStream<'static, Result<Sse, SseError>> {
        let sized = Sized { body: self, size: 0, is_line_empty: true };
        let chunks = stream::unfold(sized, |mut sized| async move {
            let chunk = sized.next().await?;
            Some((chunk, sized))
        });
        SseStream::from_bytes_stream(chunks).boxed()
    }
}

/// A body whose events have a limited size.
struct Sized {
    body: Body,
    /// Number of bytes of the event so far.
    size: usize,
    is_line_empty: bool,
}

impl Sized {
    async fn next(&mut self) -> Option<Result<bytes::Bytes, ConnectionError>> {
        let chunk = match self.body.chunks.recv().await? {
            Ok(chunk) => chunk,
            Err(why) => return Some(Err(ConnectionError(why))),
        };
        for byte in &chunk {
            self.size += 1;
            match byte {
                b'\n' if self.is_line_empty => self.size = 0,
                b'\n' => self.is_line_empty = true,
                b'\r' => {}
                _ => self.is_line_empty = false,
            }
        }
        if self.size > MAX_MESSAGE {
            self.body.chunks.close();
            return Some(Err(ConnectionError("it sent an event of more than 16 MiB".to_owned())));
        }
        Some(Ok(chunk.into()))
    }
}

impl Connector {
    /// Returns a request with the headers of the protocol, of the SDK and of the configuration.
    fn request(
        &self,
        method: Method,
        uri: &str,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Builder {
        let mut request = Request::builder().method(method).uri(uri);
        request = request.header(ACCEPT, "application/json, text/event-stream");
        request = request.header(ACCEPT_ENCODING, "identity");
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        for (name, value) in self.own.iter() {
            request = request.header(name.clone(), value.clone());
        }
        request
    }

    /// Sends a request on a thread of its own.
    async fn send(&self, request: Builder, body: Vec<u8>) -> Result<(Parts, Body), HttpError> {
        let mut request = request.body(body).map_err(|_| failed("its URL is not valid"))?;
        let (head_sender, head) = oneshot::channel();
        let (sender, chunks) = mpsc::channel(READ_AHEAD);
        let body = Body { chunks, cancel: Cancel::new() };
        let (client, cancel) = (self.client.clone(), body.cancel.clone());
        let authorization = self.authorization.clone();
        let work = move || {
            // It may take a request for a new token.
            if let Err(why) = authorization.map_or(Ok(()), |login| authorize(&mut request, &login))
            {
                return drop(head_sender.send(Err(why)));
            }
            let response = match client.send(request, &cancel) {
                Ok(response) => response,
                Err(why) => return drop(head_sender.send(Err(why))),
            };
            let (head, chunks) = response.into_parts();
            if head_sender.send(Ok(head)).is_ok() {
                pump(chunks, &sender);
            }
        };
        let thread = thread::Builder::new().name("mcp-http".to_owned()).spawn(work);
        thread.map_err(|error| failed(format!("cannot start a thread: {error}")))?;
        let head =
            head.await.map_err(|_| failed("the request was interrupted"))?.map_err(failed)?;
        Ok((head, body))
    }
}

fn authorize(request: &mut Request<Vec<u8>>, login: &Authorization) -> Result<(), String> {
    let mut value =
        HeaderValue::from_str(&login()?).map_err(|_| "its token is not valid".to_owned())?;
    value.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, value);
    Ok(())
}

fn pump(chunks: StreamedBody, sender: &mpsc::Sender<Result<Vec<u8>, String>>) {
    for chunk in chunks {
        let is_error = chunk.is_err();
        if sender.blocking_send(chunk).is_err() || is_error {
            return;
        }
    }
}

fn text(headers: &HeaderMap, name: impl http::header::AsHeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Returns whether the content has this media type.
fn is_type(head: &Parts, kind: &str) -> bool {
    text(&head.headers, CONTENT_TYPE).is_some_and(|of| {
        of.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(kind))
    })
}

/// Returns the error for a status that is not a success.
async fn refused(head: &Parts, body: Body, has_session: bool) -> HttpError {
    let status = head.status;
    if status == StatusCode::NOT_FOUND && has_session {
        return StreamableHttpError::SessionExpired;
    }
    if status == StatusCode::UNAUTHORIZED {
        let challenge = text(&head.headers, WWW_AUTHENTICATE).unwrap_or_default();
        return StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge));
    }
    if status.is_redirection() {
        return failed(format!(
            "it redirects to another address (HTTP {}), which is not followed",
            status.as_u16()
        ));
    }
    let excerpt = body.read_excerpt().await;
    failed(format!("HTTP {}: {}", status.as_u16(), excerpt.trim()))
}

impl StreamableHttpClient for Connector {
    type Error = ConnectionError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let request = self.request(Method::POST, &uri, session_id.as_deref(), headers);
        let request = request.header(CONTENT_TYPE, "application/json");
        let (head, body) = self.send(request, serde_json::to_vec(&message)?).await?;
        let session = text(&head.headers, SESSION);
        if matches!(head.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let is_json = is_type(&head, "application/json");
        if !head.status.is_success() {
            if is_json && !matches!(head.status, StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND) {
                let bytes = body.read(MAX_MESSAGE).await?;
                if let Ok(error @ ServerJsonRpcMessage::Error(_)) = serde_json::from_slice(&bytes) {
                    return Ok(StreamableHttpPostResponse::Json(error, session));
                }
                return Err(failed(format!("HTTP {}", head.status.as_u16())));
            }
            return Err(refused(&head, body, session_id.is_some()).await);
        }
        if is_type(&head, "text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(body.events(), session));
        }
        let bytes = body.read(MAX_MESSAGE).await?;
        let awaits_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        if !awaits_answer {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_json {
            return Err(StreamableHttpError::UnexpectedContentType(text(
                &head.headers,
                CONTENT_TYPE,
            )));
        }
        Ok(StreamableHttpPostResponse::Json(serde_json::from_slice(&bytes)?, session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let request = self.request(Method::DELETE, &uri, Some(&session_id), headers);
        // A server need not support it.
        self.send(request, Vec::new()).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let mut request = self.request(Method::GET, &uri, session_id.as_deref(), headers);
        if let Some(last) = last_event_id {
            request = request.header(LAST_EVENT, last);
        }
        let (head, body) = self.send(request, Vec::new()).await?;
        if head.status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !head.status.is_success() {
            return Err(refused(&head, body, session_id.is_some()).await);
        }
        if !is_type(&head, "text/event-stream") {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(body.events())
    }
}
