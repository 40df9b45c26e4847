//! A model server for tests: it speaks four formats on one port of the loopback, streams, and looks every request over.
//!
//! A [`Script`] says what is answered, once for all formats. A request that the provider of its format would refuse, or
//! that a careful client would not send, is answered with a 400 and fails the test when the server is dropped: see
//! [`ModelServer::assert_clean`]. The server knows no model, no clock and no key but the script's.

mod connection;
mod findings;
mod http;
mod invariants;
mod ledger;
mod script;
mod signature;
mod stream;
mod wire;

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use serde_json::Value;

use connection::Shared;
pub use script::{Fault, Reply, Script, Stop};

/// What a server speaks.
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

    /// The example stream of the provider's public documentation, as [`Reply::recorded`] serves it. What an example leaves
    /// out with dots is filled in.
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

/// A request that a server got.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The format of its path.
    pub format: Format,
    /// The path with its query.
    pub path: String,
    /// The headers, in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// The body's tokens, at four bytes each.
    pub tokens: u64,
}

impl Recorded {
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        http::find(&self.headers, name)
    }
}

/// A server, up for as long as this lives. Dropping it closes every connection, joins every thread, and fails the test when
/// a request was not as it has to be.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// A server on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// When there is no free port.
    pub fn start(script: impl Into<Script>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap_or_else(|error| panic!("the model server finds no port: {error}"));
        let address = listener
            .local_addr()
            .unwrap_or_else(|error| panic!("the model server has no address: {error}"));
        let shared = Arc::new(Shared::new(script.into()));
        let accepting = Arc::clone(&shared);
        let listener = Some(thread::spawn(move || accept(&listener, &accepting)));
        Self { address, shared, listener }
    }

    /// What a client of `format` is given as the server's address.
    pub fn base_url(&self, format: Format) -> String {
        match format {
            Format::Anthropic | Format::Gemini => format!("http://{}", self.address),
            Format::Responses | Format::Chat => format!("http://{}/v1", self.address),
        }
    }

    /// Adds an answer to the script.
    pub fn push(&self, reply: Reply) {
        self.shared.state().script.replies.push_back(reply);
    }

    /// The requests so far, refused ones included.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// How many answers of the script nobody has asked for.
    pub fn left(&self) -> usize {
        self.shared.state().script.replies.len()
    }

    /// Waits until there were `count` requests.
    ///
    /// # Panics
    /// When they do not come within half a minute.
    pub fn wait_for_requests(&self, count: usize) {
        self.shared.wait_until("requests", |state| state.requests.len() >= count);
    }

    /// Waits until `count` clients went away before their answer was over.
    ///
    /// # Panics
    /// When they do not within half a minute.
    pub fn wait_for_hang_ups(&self, count: usize) {
        self.shared.wait_until("clients that hang up", |state| state.hang_ups >= count);
    }

    /// What was wrong with the requests so far, and with the script.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().violations.clone()
    }

    /// As [`ModelServer::violations`], and forgets them: for a test of a client that is meant to be wrong.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().violations)
    }

    /// Fails the test when a request was not as it has to be.
    ///
    /// # Panics
    /// Then.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(
            violations.is_empty(),
            "the model server was not spoken to well:\n{}",
            violations.join("\n")
        );
    }

    /// Closes every connection and waits for every thread.
    fn close(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // The listener only looks at the flag when somebody comes.
        drop(TcpStream::connect(self.address));
        if self.listener.take().is_some_and(|listener| listener.join().is_err()) {
            self.shared.state().violations.push("the model server broke down".to_owned());
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

/// Serves each connection in a thread of its own until the server closes.
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
        // A client that is already gone has nothing to shut down.
        let _gone = stream.shutdown(Shutdown::Both);
        assert!(thread.join().is_ok(), "a connection's thread broke down");
    }
}
