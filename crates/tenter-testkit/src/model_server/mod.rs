//! A model server for tests. It implements four APIs on one loopback port, streams, and checks every request.
//!
//! A [`Script`] defines the replies for all APIs. A request that the provider would reject, or that a careful client would not
//! send, gets a 400 response and fails the test when the server is dropped: see [`ModelServer::assert_clean`].

mod connection;
mod http;
mod invariants;
mod ledger;
mod script;
mod signature;
mod stream;
mod violations;
mod wire;

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use serde_json::Value;

use connection::Shared;
pub use script::{Fault, Reply, Script, StopReason};

/// The API of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
    /// Google's Gemini.
    Gemini,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Gemini];

    /// The example stream of the provider's public documentation, as served by [`Reply::recorded`]. Omissions in the example are
    /// filled in.
    pub fn fixture(self) -> &'static str {
        match self {
            Self::Anthropic => include_str!("../../fixtures/anthropic.sse"),
            Self::Responses => include_str!("../../fixtures/responses.sse"),
            Self::Chat => include_str!("../../fixtures/chat.sse"),
            Self::Gemini => include_str!("../../fixtures/gemini.sse"),
        }
    }

    fn letter(self) -> char {
        match self {
            Self::Anthropic => 'a',
            Self::Responses => 'r',
            Self::Chat => 'c',
            Self::Gemini => 'g',
        }
    }
}

/// A request that the server received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The API, from the path.
    pub format: Format,
    /// The path with its query.
    pub path: String,
    /// The headers, in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// Number of tokens of the body, at four bytes each.
    pub tokens: u64,
}

impl RecordedRequest {
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        http::find(&self.headers, name)
    }
}

/// A running server. Dropping it closes every connection, joins every thread, and fails the test if a request violated a rule.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// There is no free port.
    pub fn start(script: impl Into<Script>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap_or_else(|error| panic!("the model server has no port: {error}"));
        let address = listener
            .local_addr()
            .unwrap_or_else(|error| panic!("the model server has no address: {error}"));
        let shared = Arc::new(Shared::new(script.into()));
        let accepting = Arc::clone(&shared);
        let listener = Some(thread::spawn(move || accept(&listener, &accepting)));
        Self { address, shared, listener }
    }

    /// The address of the server for a client of `format`.
    pub fn base_url(&self, format: Format) -> String {
        match format {
            Format::Anthropic | Format::Gemini => format!("http://{}", self.address),
            Format::Responses | Format::Chat => format!("http://{}/v1", self.address),
        }
    }

    /// Adds a reply to the script.
    pub fn push(&self, reply: Reply) {
        self.shared.state().script.replies.push_back(reply);
    }

    /// The requests so far, including rejected ones.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().requests.clone()
    }

    /// Number of replies in the script that are not used yet.
    pub fn left(&self) -> usize {
        self.shared.state().script.replies.len()
    }

    /// Waits until `count` requests have arrived.
    ///
    /// # Panics
    /// After half a minute.
    pub fn wait_for_requests(&self, count: usize) {
        self.shared.wait_until("requests", |state| state.requests.len() >= count);
    }

    /// Waits until `count` clients have closed the connection before the end of their reply.
    ///
    /// # Panics
    /// After half a minute.
    pub fn wait_for_hang_ups(&self, count: usize) {
        self.shared.wait_until("clients that hang up", |state| state.hang_ups >= count);
    }

    /// The violations so far, and errors in the script.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().violations.clone()
    }

    /// Like [`ModelServer::violations`], but also clears them, for tests of incorrect clients.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().violations)
    }

    /// Fails the test if there is a violation.
    ///
    /// # Panics
    /// There is a violation.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(
            violations.is_empty(),
            "requests to the model server violated its rules:\n{}",
            violations.join("\n")
        );
    }

    /// Closes every connection and waits for every thread.
    fn close(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // The listener checks the flag only when a client connects.
        drop(TcpStream::connect(self.address));
        if self.listener.take().is_some_and(|listener| listener.join().is_err()) {
            self.shared.state().violations.push("the model server panicked".to_owned());
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.close();
        if !thread::panicking() {
            self.assert_clean();
        }
    }
}

/// Serves each connection in its own thread until the server closes.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections = Vec::new();
    while let Ok((stream, _)) = listener.accept() {
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        let Ok(handle) = stream.try_clone() else { continue };
        let shared = Arc::clone(shared);
        connections.push((handle, thread::spawn(move || connection::serve(&stream, &shared))));
    }
    for (stream, thread) in connections {
        // The client may have closed the connection already.
        let _gone = stream.shutdown(Shutdown::Both);
        assert!(thread.join().is_ok(), "the thread of a connection panicked");
    }
}
