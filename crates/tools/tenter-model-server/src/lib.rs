//! A scripted model server on a loopback port. It implements four APIs, streaming and not.
//!
//! A [`LenientScript`] answers any client: turns of a conversation with tool calls, lanes for subagents, harmless answers to
//! everything else. Every request is kept as evidence. A [`Player`] of your own can select other responses.
//!
//! ```
//! use serde_json::json;
//! use tenter_model_server::{Format, LenientScript, ModelServer, ModelReply};
//!
//! let call = ModelReply::text("I run it.").call_any(&["Bash", "bash"], json!({"command": "ls"}));
//! let server = ModelServer::start(LenientScript::new([call, ModelReply::text("Done.")]))?;
//! assert!(server.base_url(Format::Chat).starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

mod call_id;
mod connection;
mod exchange;
mod http;
mod lenient;
mod player;
mod reading;
mod reply;
mod sending;
mod signature;
mod state;
mod stream;
mod wire;

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use exchange::{Delivery, Evidence, OtherRequest, RecordedRequest, Route};
pub use http::HttpRequest;
pub use lenient::{Lane, LenientScript, Match};
pub use player::{Player, Response, ScriptedResponse};
pub use reply::{Fault, ModelReply, StopReason};
pub use signature::check_signature;
use state::Shared;
pub use wire::{failure, reply_signature};

/// Maximum number of connections that are open at a time.
const MAX_CONNECTIONS: usize = 256;

/// The time before the server tries again to accept a connection, or to close.
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

    /// Returns the example stream of the provider's public documentation, as served by [`ModelReply::recorded`]. Omissions in the
    /// example are filled in.
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
    pub fn start(script: impl Into<Box<dyn Player>>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(script.into()));
        let accepting = Arc::clone(&shared);
        let thread = thread::Builder::new().name("model server".to_owned());
        let listener = thread.spawn(move || accept(&listener, &accepting))?;
        Ok(Self { address, shared, listener: Some(listener) })
    }

    /// Returns the address of the server for a client of `format`.
    pub fn base_url(&self, format: Format) -> String {
        match format {
            Format::Anthropic | Format::Gemini => format!("http://{}", self.address),
            Format::Responses | Format::Chat => format!("http://{}/v1", self.address),
        }
    }

    /// Adds a reply to the script; in a lenient script, a turn to the main conversation.
    pub fn push(&self, reply: ModelReply) {
        self.shared.state().player.push(reply);
    }

    /// Returns the requests for a reply so far, including rejected ones.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().evidence.requests.clone()
    }

    /// Returns the requests for something else than a reply so far.
    pub fn other_requests(&self) -> Vec<OtherRequest> {
        self.shared.state().evidence.others.clone()
    }

    /// Returns the number of replies that are not used yet; 0 in lenient scripts, whose turns can be replayed.
    pub fn unused_replies(&self) -> usize {
        self.shared.state().player.unused()
    }

    /// Waits until `count` requests have arrived. Returns false if `limit` has passed.
    pub fn wait_for_requests(&self, count: usize, limit: Duration) -> bool {
        self.shared.wait_until(limit, |evidence| evidence.requests.len() >= count)
    }

    /// Waits until `count` clients have closed the connection before the end of their reply. Returns false if `limit` has passed.
    pub fn wait_for_hang_ups(&self, count: usize, limit: Duration) -> bool {
        self.shared.wait_until(limit, |evidence| evidence.hang_ups >= count)
    }

    /// Returns the violations of the rules of a player so far, and errors in the script.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().evidence.violations.clone()
    }

    /// Like [`ModelServer::violations`], but also clears them, for tests of incorrect clients.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().evidence.violations)
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
        let connection = listener.accept();
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        connections.retain(|(_, thread)| !thread.is_finished());
        match connection {
            Ok((stream, _)) if connections.len() < MAX_CONNECTIONS => {
                connections.extend(serve(stream, shared).ok());
            }
            Ok(_) => {}
            Err(_) => thread::sleep(RETRY),
        }
    }
    for (stream, thread) in connections {
        // The client may have closed the connection already; a thread that panicked has ended as well.
        let _result = stream.shutdown(Shutdown::Both);
        let _panicked = thread.join();
    }
}

fn serve(stream: TcpStream, shared: &Arc<Shared>) -> io::Result<Connection> {
    let handle = stream.try_clone()?;
    let shared = Arc::clone(shared);
    let thread = thread::Builder::new().spawn(move || connection::serve(&stream, &shared))?;
    Ok((handle, thread))
}
