//! Responses, with the headers that keep their content in this page.

use std::io::{self, Write};

use maud::Markup;

/// The rights of a browser with every response: to run the one script and the one style sheet of this server, to connect to
/// it, and nothing else.
const PROTECTION: &str = "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n\
    x-content-type-options: nosniff\r\n\
    x-frame-options: DENY\r\n\
    referrer-policy: no-referrer\r\n\
    cross-origin-opener-policy: same-origin\r\n\
    cross-origin-resource-policy: same-origin\r\n\
    cache-control: no-store\r\n\
    connection: close\r\n";

/// The status of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    /// Nothing is new.
    NoContent,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    /// The page has to be loaded again.
    Gone,
    AddressTooLong,
    HeadTooLarge,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::NoContent => "204 No Content",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::RequestTimeout => "408 Request Timeout",
            Self::Gone => "410 Gone",
            Self::AddressTooLong => "414 URI Too Long",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
        }
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    status: Status,
    media_type: &'static str,
    body: Vec<u8>,
    /// The cursor that the script of the page sends with its next request.
    cursor: Option<String>,
}

impl Response {
    /// Returns a response without content.
    pub(crate) fn empty(status: Status) -> Self {
        Self { status, media_type: "text/plain; charset=utf-8", body: Vec::new(), cursor: None }
    }

    /// Returns a page, or a part of one.
    pub(crate) fn html(status: Status, markup: Markup) -> Self {
        let body = markup.into_string().into_bytes();
        Self { media_type: "text/html; charset=utf-8", body, ..Self::empty(status) }
    }

    /// Returns a text to be saved.
    pub(crate) fn text(status: Status, media_type: &'static str, text: String) -> Self {
        Self { media_type, body: text.into_bytes(), ..Self::empty(status) }
    }

    /// Returns a file of the pages.
    pub(crate) fn asset(media_type: &'static str, text: &'static str) -> Self {
        Self { media_type, body: text.as_bytes().to_vec(), ..Self::empty(Status::Ok) }
    }

    /// Returns the response with a cursor, which must be printable ASCII.
    pub(crate) fn with_cursor(self, cursor: String) -> Self {
        Self { cursor: Some(cursor), ..self }
    }

    /// Writes it.
    pub(crate) fn write(&self, mut to: impl Write, head_only: bool) -> io::Result<()> {
        let mut bytes = format!(
            "HTTP/1.1 {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n{PROTECTION}",
            self.status.line(),
            self.media_type,
            self.body.len()
        );
        if let Some(cursor) = &self.cursor {
            bytes.extend(["x-cursor: ", cursor, "\r\n"]);
        }
        if self.status == Status::MethodNotAllowed {
            bytes.push_str("allow: GET, HEAD\r\n");
        }
        bytes.push_str("\r\n");
        let mut bytes = bytes.into_bytes();
        if !head_only {
            bytes.extend_from_slice(&self.body);
        }
        to.write_all(&bytes)
    }
}
