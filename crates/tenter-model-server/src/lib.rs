//! A scripted model server on a loopback port. It implements four APIs, streaming and not.
//!
//! A [`StrictScript`] is a queue of replies for a client whose requests are checked: a request that the provider would reject, or
//! that a careful client would not send, gets a 400 response and is one of [`ModelServer::violations`].
//!
//! ```
//! use tenter_model_server::{Format, ModelServer, Reply, StrictScript};
//!
//! let server = ModelServer::start(StrictScript::new([Reply::text("Hello!")]))?;
//! let address = server.base_url(Format::Chat);
//! assert!(address.starts_with("http://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod connection;
mod exchange;
mod http;
mod reply;
mod sending;
mod signature;
mod state;
mod stream;
mod strict;
mod wire;

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

pub use reply::{Fault, Reply, StopReason};
use state::Shared;
pub use strict::StrictScript;

/// Maximum number of connections that are open at a time.
const MAX_CONNECTIONS: usize = 256;

/// How long the server waits before it tries again to accept a connection, or to close.
const RETRY: Duration = Duration::from_millis(5);

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
            Self::Anthropic => include_str!("../fixtures/anthropic.sse"),
            Self::Responses => include_str!("../fixtures/responses.sse"),
            Self::Chat => include_str!("../fixtures/chat.sse"),
            Self::Gemini => include_str!("../fixtures/gemini.sse"),
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

/// A running server. Dropping it closes every connection and joins every thread.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// There is no free port, or no thread.
    pub fn start(script: impl Into<StrictScript>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(script.into()));
        let accepting = Arc::clone(&shared);
        let thread = thread::Builder::new().name("model server".to_owned());
        let listener = thread.spawn(move || accept(&listener, &accepting))?;
        Ok(Self { address, shared, listener: Some(listener) })
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
        self.shared.state().player.push(reply);
    }

    /// The requests for a reply so far, including rejected ones.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().requests.clone()
    }

    /// Number of replies in the script that are not used yet.
    pub fn left(&self) -> usize {
        self.shared.state().player.left()
    }

    /// Waits until `count` requests have arrived. Returns false if `limit` has passed.
    pub fn wait_for_requests(&self, count: usize, limit: Duration) -> bool {
        self.shared.wait_until(limit, |state| state.requests.len() >= count)
    }

    /// Waits until `count` clients have closed the connection before the end of their reply. Returns false if `limit` has passed.
    pub fn wait_for_hang_ups(&self, count: usize, limit: Duration) -> bool {
        self.shared.wait_until(limit, |state| state.hang_ups >= count)
    }

    /// The violations of a strict script so far, and errors in the script.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().player.violations.clone()
    }

    /// Like [`ModelServer::violations`], but also clears them, for tests of incorrect clients.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().player.violations)
    }

    /// Closes every connection and waits for every thread.
    pub fn close(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        let Some(listener) = self.listener.take() else { return };
        // The listener checks the flag only when a client connects.
        while !listener.is_finished() {
            drop(TcpStream::connect(self.address));
            thread::sleep(RETRY);
        }
        // A thread that panicked has nothing left to close.
        let _panicked = listener.join();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.close();
    }
}

type Connection = (TcpStream, JoinHandle<()>);

/// Serves each connection in its own thread until the server closes.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections: Vec<Connection> = Vec::new();
    loop {
        let accepted = listener.accept();
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        connections.retain(|(_, thread)| !thread.is_finished());
        match accepted {
            Ok((stream, _)) if connections.len() < MAX_CONNECTIONS => {
                connections.extend(serve(stream, shared).ok());
            }
            Ok(_) => {}
            Err(_) => thread::sleep(RETRY),
        }
    }
    for (stream, thread) in connections {
        // The client may have closed the connection already; a thread that panicked has ended as well.
        let _gone = stream.shutdown(Shutdown::Both);
        let _panicked = thread.join();
    }
}

fn serve(stream: TcpStream, shared: &Arc<Shared>) -> io::Result<Connection> {
    let handle = stream.try_clone()?;
    let shared = Arc::clone(shared);
    let thread = thread::Builder::new().spawn(move || connection::serve(&stream, &shared))?;
    Ok((handle, thread))
}
