//! The transport: one blocking request at a time, with a streamed response.
//!
//! Every request uses a new connection: a handshake is cheap compared with a response, and stale connections cause confusing
//! errors. It also runs in its own thread, because name lookup, connecting and sending cannot be cancelled; the caller waits for
//! that thread and checks for cancellation ten times a second. The time without a byte, the total time and the size of a
//! response are limited (R79).

use std::io::{self, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use http::response::Parts;
use http::{Request, Response};
use tenter_proc::Cancel;
use ureq::config::AutoHeaderValue;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::transport::{
    Buffers, ConnectProxyConnector, ConnectionDetails, Connector, NextTimeout, RustlsConnector,
    SocksConnector, TcpConnector, Transport,
};
use ureq::{Agent, Body, Error, Proxy};

use crate::server_names::ServerNames;
use crate::{Authorities, ResponseLimits};

/// Maximum time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// The interval at which a waiting thread checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of bytes per read.
const CHUNK: usize = 16 * 1024;
/// Maximum number of chunks that are read ahead of the caller.
const READ_AHEAD: usize = 4;

/// The failure of a request.
#[derive(Debug)]
pub enum TransportError {
    /// The server cannot be reached, or the connection broke. A retry may succeed.
    Unreachable(String),
    /// A retry cannot succeed: the address is invalid, or the TLS handshake fails.
    Unusable(String),
    /// Nothing listens at the address.
    Refused(String),
    /// The response is larger, or takes longer, than the limits allow.
    OverLimit(String),
    /// The certificate of the server is not signed by a trusted authority.
    Untrusted,
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(problem)
            | Self::Unusable(problem)
            | Self::Refused(problem)
            | Self::OverLimit(problem) => f.write_str(problem),
            Self::Untrusted => f.write_str("its certificate is not signed by a trusted authority"),
        }
    }
}

impl std::error::Error for TransportError {}

impl From<Error> for TransportError {
    fn from(error: Error) -> Self {
        match error {
            // TLS errors have this kind; nothing below them uses it.
            Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                Self::from_tls(&error.to_string())
            }
            Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Self::Refused(error.to_string())
            }
            Error::Io(error) => Self::Unreachable(error.to_string()),
            Error::Timeout(_) | Error::HostNotFound | Error::ConnectionFailed => {
                Self::Unreachable(error.to_string())
            }
            Error::ConnectProxyFailed(reason) => Self::from_proxy(&reason),
            _ => Self::Unusable(error.to_string()),
        }
    }
}

impl TransportError {
    /// Creates the error of TLS; `problem` is the message of the library.
    fn from_tls(problem: &str) -> Self {
        match problem.strip_prefix("invalid peer certificate: ") {
            Some("UnknownIssuer") => Self::Untrusted,
            Some(problem) if problem.contains("CaUsedAsEndEntity") => Self::Unusable(
                "its certificate belongs to a certificate authority, which a server must not use; create it with \
                 `basicConstraints=critical,CA:FALSE`"
                    .to_owned(),
            ),
            Some(problem) => Self::Unusable(format!("its certificate is not valid: {problem}")),
            None if problem.contains("InvalidContentType") => {
                Self::Unusable("it does not use TLS; try the address with http://".to_owned())
            }
            None => Self::Unusable(format!("the TLS handshake failed: {problem}")),
        }
    }

    /// Creates the error of a proxy, which is temporary, unless the proxy rejects the request itself.
    fn from_proxy(reason: &str) -> Self {
        if reason.contains("responded 407") {
            return Self::Unusable(
                "the proxy requires a valid name and password: http://NAME:PASSWORD@HOST:PORT"
                    .to_owned(),
            );
        }
        let problem = format!("the proxy cannot connect: {reason}");
        if reason.contains("responded 4") {
            Self::Unusable(problem)
        } else {
            Self::Unreachable(problem)
        }
    }
}

/// A client for one proxy, one set of authorities and one set of limits.
#[derive(Debug, Clone)]
pub struct Http {
    proxy: Option<Proxy>,
    authorities: RootCerts,
    idle: Duration,
    limits: ResponseLimits,
}

impl Http {
    /// Returns the transport with this proxy and these authorities; `None` means none, and Mozilla's list.
    ///
    /// # Errors
    /// The address of the proxy is invalid.
    pub fn new(
        proxy: Option<&str>,
        authorities: Option<Authorities>,
        idle: Duration,
        limits: ResponseLimits,
    ) -> Result<Self, TransportError> {
        let proxy = proxy.map(Proxy::new).transpose()?;
        let authorities = authorities.map_or(RootCerts::WebPki, RootCerts::from);
        Ok(Self { proxy, authorities, idle, limits })
    }

    /// Returns the host and port of the proxy, without its password.
    pub fn proxy(&self) -> Option<String> {
        let proxy = self.proxy.as_ref()?;
        Some(format!("{}:{}", proxy.host(), proxy.port()))
    }

    /// Sends a request. Returns the response with any status; the body is read from the returned chunks.
    pub fn send(
        &self,
        request: Request<Vec<u8>>,
        cancel: &Cancel,
        tail: &StreamTail,
    ) -> Result<Response<Chunks>, TransportError> {
        let (sender, pieces) = sync_channel(READ_AHEAD);
        let abandoned = Arc::<AtomicBool>::default();
        let (http, watch) =
            (self.clone(), Watch { cancel: cancel.clone(), abandoned: Arc::clone(&abandoned) });
        thread::Builder::new()
            .name("http".to_owned())
            .spawn(move || http.exchange(request, watch, &sender))
            .map_err(|error| {
                TransportError::Unreachable(format!("cannot start a thread: {error}"))
            })?;
        let limits = self.limits;
        let chunks = Chunks {
            pieces: Some(pieces),
            watch: Watch { cancel: cancel.clone(), abandoned },
            start: Instant::now(),
            limits,
            count: 0,
            tail: tail.clone(),
        };
        match chunks.piece()? {
            Piece::Head(head) => Ok(Response::from_parts(*head, chunks)),
            Piece::Chunk(_) | Piece::End => Err(TransportError::Unreachable(BROKEN.to_owned())),
        }
    }

    /// Sends a request and passes the pieces of the response to the channel, until the end or until the receiver is dropped.
    fn exchange(
        &self,
        request: Request<Vec<u8>>,
        watch: Watch,
        sender: &SyncSender<Result<Piece, TransportError>>,
    ) {
        let response = match self.agent(watch).run(request) {
            Ok(response) => response,
            Err(error) => {
                let _result = sender.send(Err(error.into()));
                return;
            }
        };
        let (head, mut body) = response.into_parts();
        let mut piece = Ok(Piece::Head(Box::new(head)));
        loop {
            let is_last = matches!(piece, Err(_) | Ok(Piece::End));
            if sender.send(piece).is_err() || is_last {
                return;
            }
            piece = next_chunk(&mut body);
        }
    }

    fn agent(&self, watch: Watch) -> Agent {
        let timeout = CONNECT_TIMEOUT.min(self.idle);
        let names = ServerNames { cancel: watch.cancel.clone(), timeout };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(self.proxy.clone())
            .tls_config(TlsConfig::builder().root_certs(self.authorities.clone()).build())
            .timeout_connect(Some(timeout))
            // A redirect would send the key, which is in a provider-specific header, to another server.
            .max_redirects(0)
            .max_idle_connections(0)
            .user_agent(AutoHeaderValue::Provided(
                concat!("tenter/", env!("CARGO_PKG_VERSION")).to_owned().into(),
            ))
            .build();
        let watched = WatchedConnector { watch, idle: self.idle };
        let connector =
            ().chain(SocksConnector::default())
                .chain(ConnectProxyConnector::default())
                .chain(TcpConnector::default())
                .chain(watched)
                .chain(RustlsConnector::default());
        Agent::with_parts(config, connector, names)
    }
}

/// The last bytes of a response. They may contain an error that the model library does not recognise.
#[derive(Debug, Clone, Default)]
pub struct StreamTail(Arc<Mutex<Vec<u8>>>);

impl StreamTail {
    /// Maximum number of bytes kept.
    const MAX_BYTES: usize = 4096;

    fn add(&self, chunk: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(chunk);
        let surplus = tail.len().saturating_sub(Self::MAX_BYTES);
        tail.drain(..surplus);
    }

    /// Returns the data of a final `event: error`, if any.
    pub fn error(&self) -> Option<String> {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        let (_, event) = text.rsplit_once("event: error")?;
        let data = event.lines().find_map(|line| line.strip_prefix("data:"))?;
        Some(data.trim().to_owned())
    }
}

/// A piece of a response, sent by the thread of the connection.
enum Piece {
    Head(Box<Parts>),
    Chunk(Vec<u8>),
    End,
}

fn next_chunk(body: &mut Body) -> Result<Piece, TransportError> {
    let mut chunk = vec![0; CHUNK];
    match body.as_reader().read(&mut chunk) {
        Ok(0) => Ok(Piece::End),
        Ok(count) => {
            chunk.truncate(count);
            Ok(Piece::Chunk(chunk))
        }
        Err(error) => Err(TransportError::Unreachable(error.to_string())),
    }
}

const BROKEN: &str = "the connection broke";

/// The request that waits for a response, and its cancel flag.
#[derive(Debug, Clone)]
struct Watch {
    cancel: Cancel,
    abandoned: Arc<AtomicBool>,
}

impl Watch {
    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.abandoned.load(Ordering::SeqCst)
    }
}

/// The body of a response as chunks, within the limits. Dropping it closes the connection.
#[derive(Debug)]
pub struct Chunks {
    /// `None` after the end of the body.
    pieces: Option<Receiver<Result<Piece, TransportError>>>,
    watch: Watch,
    start: Instant,
    limits: ResponseLimits,
    /// Number of bytes so far.
    count: u64,
    tail: StreamTail,
}

impl Chunks {
    /// Waits for the next piece.
    fn piece(&self) -> Result<Piece, TransportError> {
        let Some(pieces) = &self.pieces else { return Ok(Piece::End) };
        loop {
            if self.watch.is_over() {
                return Err(TransportError::Unreachable("interrupted".to_owned()));
            }
            if self.start.elapsed() >= self.limits.time {
                let problem = format!("its response takes longer than {:?}", self.limits.time);
                return Err(TransportError::OverLimit(problem));
            }
            match pieces.recv_timeout(POLL_INTERVAL) {
                Ok(piece) => return piece,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(TransportError::Unreachable(BROKEN.to_owned()));
                }
            }
        }
    }

    /// Counts a chunk, and keeps its end for error messages.
    fn count(&mut self, chunk: &[u8]) -> Result<(), TransportError> {
        self.count += chunk.len() as u64;
        if self.count > self.limits.bytes {
            let problem = format!("its response is larger than {}", size(self.limits.bytes));
            return Err(TransportError::OverLimit(problem));
        }
        self.tail.add(chunk);
        Ok(())
    }
}

impl Iterator for Chunks {
    type Item = Result<Vec<u8>, TransportError>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = match self.piece() {
            Ok(Piece::Chunk(chunk)) => self.count(&chunk).map(|()| chunk),
            Ok(Piece::Head(_) | Piece::End) => {
                self.pieces = None;
                return None;
            }
            Err(failure) => Err(failure),
        };
        if chunk.is_err() {
            self.pieces = None;
        }
        Some(chunk)
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.watch.abandoned.store(true, Ordering::SeqCst);
    }
}

/// Formats a number of bytes for an error.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{bytes} bytes")
    }
}

/// Adds cancellation and the idle timeout to a connection, below TLS.
#[derive(Debug)]
struct WatchedConnector {
    watch: Watch,
    idle: Duration,
}

impl<In: Transport> Connector<In> for WatchedConnector {
    type Out = WatchedTransport<In>;

    fn connect(
        &self,
        _details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let watched =
            |inner| WatchedTransport { inner, watch: self.watch.clone(), idle: self.idle };
        Ok(chained.map(watched))
    }
}

/// A connection whose waits can be cancelled and time out.
#[derive(Debug)]
struct WatchedTransport<In> {
    inner: In,
    watch: Watch,
    idle: Duration,
}

impl<In: Transport> Transport for WatchedTransport<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let start = Instant::now();
        let limit = timeout.after.min(self.idle.into());
        loop {
            if self.watch.is_over() {
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "interrupted").into());
            }
            match self.inner.await_input(NextTimeout { after: POLL_INTERVAL.into(), ..timeout }) {
                Err(Error::Timeout(_)) if start.elapsed() < *limit => {}
                Err(Error::Timeout(_)) => return Err(idle_timeout(*limit)),
                other => return other,
            }
        }
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

fn idle_timeout(limit: Duration) -> Error {
    let problem = format!("the server sent nothing for {} s", limit.as_secs());
    io::Error::new(io::ErrorKind::TimedOut, problem).into()
}
