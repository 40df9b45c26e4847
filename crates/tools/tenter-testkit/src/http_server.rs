//! An HTTP server on a loopback port that sends the bytes that a test gives it, however wrong they are.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use crate::listener::Listener;

/// A request that the server received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The request line, without its end: `POST /hook HTTP/1.1`.
    pub line: String,
    /// Names, in lower case, and values of the headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl HttpRequest {
    /// Returns the value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }
}

/// A server that answers every request in the same way.
pub struct HttpServer {
    listener: Listener,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
}

impl HttpServer {
    /// Starts a server that sends `response` and closes the connection. `None`: it sends nothing, and keeps the connection open until
    /// the client closes it.
    ///
    /// # Panics
    /// There is no free port.
    pub fn start(response: Option<String>) -> Self {
        Self::deciding(move |_| response.clone())
    }

    /// Starts a server that answers each request with what `decide` returns, one after the other. `None`: as in [`start`](Self::start).
    ///
    /// # Panics
    /// There is no free port.
    pub fn deciding(
        mut decide: impl FnMut(&HttpRequest) -> Option<String> + Send + 'static,
    ) -> Self {
        let requests = Arc::<Mutex<Vec<HttpRequest>>>::default();
        let record = Arc::clone(&requests);
        let listener = Listener::start(move |client| {
            // Errors of a connection are reported by the client.
            let _result = answer(&client, &mut decide, &record);
        });
        Self { listener, requests }
    }

    /// Starts a server that answers with this status line, such as `200 OK`, headers, and body.
    pub fn answering(status: &str, headers: &[&str], body: &str) -> Self {
        Self::start(Some(response(status, headers, body)))
    }

    /// Starts a server that answers with this JSON.
    pub fn json(body: &str) -> Self {
        Self::answering("200 OK", &["content-type: application/json"], body)
    }

    /// Returns the URL of a path that begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.listener.address)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns a response with this status line, such as `200 OK`, headers, and body.
pub fn response(status: &str, headers: &[&str], body: &str) -> String {
    let length = format!("content-length: {}", body.len());
    let first = format!("HTTP/1.1 {status}");
    let head = [&[first.as_str()], headers, &[&length, "", body]].concat();
    head.join("\r\n")
}

fn answer(
    mut client: &TcpStream,
    decide: &mut impl FnMut(&HttpRequest) -> Option<String>,
    requests: &Mutex<Vec<HttpRequest>>,
) -> io::Result<()> {
    let request = read(client)?;
    let response = decide(&request);
    requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    if let Some(response) = response {
        client.write_all(response.as_bytes())?;
        client.shutdown(Shutdown::Write)?;
    }
    // Closing first could discard what was sent.
    io::copy(&mut client, &mut io::sink()).map(drop)
}

fn read(client: &TcpStream) -> io::Result<HttpRequest> {
    let mut reader = BufReader::new(client);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(HttpRequest { line: line.trim_end().to_owned(), headers, body })
}
