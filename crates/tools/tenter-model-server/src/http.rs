//! The subset of HTTP/1.1 that model clients use: requests with a body, and responses with a content length or in chunks. A request
//! cannot use more memory than its limits allow.

use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum number of bytes in a body.
const MAX_BODY: u64 = 64 << 20;

/// Maximum number of bytes in a line of the head.
const MAX_LINE: u64 = 64 << 10;

/// Maximum number of headers.
const MAX_HEADERS: usize = 200;

/// A request as received.
#[derive(Debug)]
pub struct HttpRequest {
    /// `GET`, `POST`, ….
    pub method: String,
    /// The path with its query.
    pub target: String,
    /// The headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Returns the path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Returns the value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// Counts the tokens of the body, at four bytes each.
    pub fn tokens(&self) -> u64 {
        (self.body.len() as u64).div_ceil(4)
    }

    /// Returns true if the client reads no further response on this connection.
    pub(super) fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|word| word.eq_ignore_ascii_case("close"))
    }
}

/// Reads the next request of a connection; `None` at its end.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] if the client sends something else than a request, or one above the limits.
pub(super) fn read(mut from: impl BufRead, to: &TcpStream) -> io::Result<Option<HttpRequest>> {
    let first = line(&mut from)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return if first.is_empty() { Ok(None) } else { Err(invalid("not an HTTP request")) };
    };
    let headers = headers(&mut from)?;
    if find(&headers, "expect").is_some() {
        (&mut &*to).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = body(&mut from, &headers)?;
    Ok(Some(HttpRequest { method: method.to_owned(), target: target.to_owned(), headers, body }))
}

/// Returns the value of a header; `name` is in lower case.
pub(super) fn find<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn headers(from: &mut impl BufRead) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    for _ in 0..=MAX_HEADERS {
        let line = line(from)?;
        let Some((name, value)) = line.split_once(':') else { return Ok(headers) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Err(invalid("too many headers"))
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    from.take(MAX_LINE).read_line(&mut line)?;
    if line.len() as u64 == MAX_LINE && !line.ends_with('\n') {
        return Err(invalid("a line is too long"));
    }
    Ok(line.trim_end().to_owned())
}

fn body(from: &mut impl BufRead, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
    if find(headers, "transfer-encoding").is_some_and(|word| word.eq_ignore_ascii_case("chunked")) {
        return chunks(from);
    }
    let mut body = Vec::new();
    if let Some(length) = find(headers, "content-length") {
        let length = length.parse().map_err(|_| invalid("the content length is no number"))?;
        append(from, length, &mut body)?;
    }
    Ok(body)
}

fn chunks(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(from)?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).map_err(|_| invalid("not the size of a chunk"))?;
        if size == 0 {
            headers(from)?;
            return Ok(body);
        }
        append(from, size, &mut body)?;
        line(from)?;
    }
}

/// Appends `length` bytes to a body. Memory is allocated as they arrive.
fn append(from: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    let whole = (body.len() as u64).saturating_add(length);
    if whole > MAX_BODY {
        return Err(invalid("the body is too long"));
    }
    from.take(length).read_to_end(body)?;
    if body.len() as u64 == whole { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// Writes the response to a client.
pub(super) struct ResponseWriter<'c> {
    to: &'c TcpStream,
    /// True if only the head is sent, as the method HEAD requires.
    head_only: bool,
}

impl<'c> ResponseWriter<'c> {
    pub(super) fn new(to: &'c TcpStream, method: &str) -> Self {
        Self { to, head_only: method == "HEAD" }
    }

    /// Sends a complete JSON response.
    pub(super) fn whole(
        &self,
        status: u16,
        headers: &[(&str, String)],
        body: &str,
    ) -> io::Result<()> {
        self.short(status, headers, body, body.len())
    }

    /// Sends the content length of `body`, but only its first `byte_count` bytes.
    pub(super) fn short(
        &self,
        status: u16,
        headers: &[(&str, String)],
        body: &str,
        byte_count: usize,
    ) -> io::Result<()> {
        let length = [
            ("content-type", "application/json".to_owned()),
            ("content-length", body.len().to_string()),
        ];
        self.head(status, &[headers, &length].concat())?;
        let length = if self.head_only { 0 } else { byte_count };
        self.send(body.as_bytes().get(..length).unwrap_or_default())
    }

    /// Starts an event stream.
    pub(super) fn begin(&self, headers: &[(&str, String)]) -> io::Result<()> {
        let stream = [
            ("content-type", "text/event-stream; charset=utf-8".to_owned()),
            ("cache-control", "no-cache".to_owned()),
            ("transfer-encoding", "chunked".to_owned()),
        ];
        self.head(200, &[headers, &stream].concat())
    }

    /// Sends a piece of an event stream as two chunks, so that events, lines and characters are split.
    pub(super) fn piece(&self, text: &[u8]) -> io::Result<()> {
        let (first, second) = text.split_at(text.len() / 2);
        for chunk in [first, second].into_iter().filter(|chunk| !chunk.is_empty()) {
            let mut framed = format!("{:x}\r\n", chunk.len()).into_bytes();
            framed.extend_from_slice(chunk);
            framed.extend_from_slice(b"\r\n");
            self.send(&framed)?;
        }
        Ok(())
    }

    /// Ends an event stream.
    pub(super) fn end(&self) -> io::Result<()> {
        self.send(b"0\r\n\r\n")
    }

    /// Waits for `limit`, or until the client closes the connection. Returns false if it did.
    pub(super) fn wait(&self, limit: Option<Duration>) -> io::Result<bool> {
        let deadline = limit.map(|limit| Instant::now() + limit);
        let count = loop {
            let remaining = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if remaining.is_some_and(|remaining| remaining.is_zero()) {
                break Err(io::ErrorKind::TimedOut.into());
            }
            self.to.set_read_timeout(remaining)?;
            match (&mut &*self.to).read(&mut [0; 64]) {
                // The process was stopped and continued.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        self.to.set_read_timeout(None)?;
        match count {
            Err(error) => {
                Ok(matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
            }
            Ok(bytes) => Ok(bytes > 0),
        }
    }

    fn head(&self, status: u16, headers: &[(&str, String)]) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        self.send(head.as_bytes())
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        (&mut &*self.to).write_all(bytes)
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Site Overloaded",
        _ => "Other",
    }
}
