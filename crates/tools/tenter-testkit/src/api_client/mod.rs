//! A small client of the four model APIs. It shares no code with the model server, so that one tests the other.

#![expect(clippy::unwrap_used, reason = "a test fails if its client gets no response")]
#![expect(missing_docs, reason = "parts of a response, named by the APIs")]

mod speech;
mod whole;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;
use tenter_model_server::{Format, ModelServer};

pub use speech::{SpokenResponse, ask, continue_with, conversation, hear};
pub use whole::{talk, ways};

/// A response as received.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub head: String,
    pub body: String,
    /// True if it is complete.
    pub complete: bool,
}

impl HttpResponse {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// Returns the names and data of the events.
    pub fn events(&self) -> Vec<(String, String)> {
        let field = |event: &str, name: &str| {
            let lines = event.lines().filter_map(|line| line.strip_prefix(name));
            lines.map(str::trim).collect::<String>()
        };
        self.body
            .replace("\r\n", "\n")
            .split("\n\n")
            .filter(|event| event.contains("data:"))
            .map(|event| (field(event, "event:"), field(event, "data:")))
            .collect()
    }

    /// Returns the data of the events, without Chat's `[DONE]`.
    pub fn data(&self) -> Vec<Value> {
        let events = self.events();
        let data = events.iter().map(|(_, data)| data).filter(|data| *data != "[DONE]");
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

/// Returns the path of a format, and the header with its key.
pub fn door(format: Format, streams: bool) -> (&'static str, &'static [&'static str]) {
    match format {
        Format::Anthropic => {
            ("/v1/messages", &["x-api-key: sk-test", "anthropic-version: 2023-06-01"])
        }
        Format::Responses => ("/v1/responses", &["authorization: Bearer sk-test"]),
        Format::Chat => ("/v1/chat/completions", &["authorization: Bearer sk-test"]),
        Format::Gemini if streams => (
            "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
            &["x-goog-api-key: sk-test"],
        ),
        Format::Gemini => {
            ("/v1beta/models/gemini-3-pro:generateContent", &["x-goog-api-key: sk-test"])
        }
    }
}

/// Sends a request that streams, as a client of the format does.
pub fn send(server: &ModelServer, format: Format, body: &Value) -> HttpResponse {
    let (path, headers) = door(format, true);
    post(server, path, headers, &body.to_string())
}

/// Sends a request that does not stream.
pub fn send_whole(server: &ModelServer, format: Format, body: &Value) -> HttpResponse {
    let (path, headers) = door(format, false);
    let mut body = body.clone();
    let fields = body.as_object_mut().unwrap();
    fields.remove("stream");
    fields.remove("stream_options");
    post(server, path, headers, &body.to_string())
}

pub fn post(server: &ModelServer, path: &str, headers: &[&str], body: &str) -> HttpResponse {
    let mut stream = connect(server);
    let headers = [&["content-type: application/json"], headers].concat();
    write(&mut stream, path, &headers, body);
    read(&mut BufReader::new(stream))
}

pub fn connect(server: &ModelServer) -> TcpStream {
    let address = server.base_url(Format::Anthropic);
    TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap()
}

pub fn write(stream: &mut TcpStream, path: &str, headers: &[&str], body: &str) {
    let headers = headers.join("\r\n");
    let length = body.len();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
}

pub fn read(from: &mut impl BufRead) -> HttpResponse {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && from.read_line(&mut head).unwrap() > 0 {}
    let status = head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let (body, complete) = match length {
        Some(length) => {
            let length: u64 = length.parse().unwrap();
            let mut body = Vec::new();
            from.take(length).read_to_end(&mut body).unwrap();
            let complete = body.len() as u64 == length;
            (body, complete)
        }
        None => chunks(from),
    };
    HttpResponse { status, head, body: String::from_utf8_lossy(&body).into_owned(), complete }
}

fn chunks(from: &mut impl BufRead) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        from.read_line(&mut size).unwrap();
        let Ok(size) = u64::from_str_radix(size.trim(), 16) else { return (body, false) };
        from.take(size).read_to_end(&mut body).unwrap();
        from.read_line(&mut String::new()).unwrap();
        if size == 0 {
            return (body, true);
        }
    }
}
