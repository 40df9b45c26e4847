//! The transport: one blocking request, whose response is read as it comes.
//!
//! Every request has a connection of its own: a handshake is nothing beside a model's thinking, and a connection that
//! went stale in the meantime is an error nobody can explain. It also has a thread of its own, because looking up a name,
//! connecting and sending block without a look at the switch; the caller waits for that thread, and looks at the switch ten
//! times a second. A server may be silent for so long only, before the first byte as well, and a whole response may take so
//! many bytes and so much time only, whatever they hold (R79).

use std::fmt;
use std::io::{self, Read as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use http::response::Parts;
use http::{Request, Response};
use tenter_proc::Cancel;
use ureq::config::AutoHeaderValue;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectProxyConnector, ConnectionDetails, Connector, NextTimeout, RustlsConnector,
    SocksConnector, TcpConnector, Transport,
};
use ureq::{Agent, Body, Error, Proxy};

use crate::{Endpoint, ResponseLimits};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(20);
/// How often whoever waits looks at the switch.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes that are read at once at most.
const CHUNK: usize = 16 * 1024;
/// Chunks that are read ahead of the caller at most.
const AHEAD: usize = 4;

/// Why a request got no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server cannot be reached, or the connection broke: later it may work.
    Unreachable(String),
    /// It will never work like this: the address is none, or there is no encryption to be had.
    Unusable(String),
    /// Nothing listens at the address.
    Refused(String),
    /// The response is larger, or takes longer, than the limits allow.
    OverLimit(String),
    /// Nobody who is trusted here signed the server's certificate.
    Untrusted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(problem)
            | Self::Unusable(problem)
            | Self::Refused(problem)
            | Self::OverLimit(problem) => f.write_str(problem),
            Self::Untrusted => f.write_str("nobody who is trusted here signed its certificate"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            // So the encryption's errors come, below which nothing makes this kind.
            Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                Self::of_encryption(&error.to_string())
            }
            Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Self::Refused(error.to_string())
            }
            Error::Io(error) => Self::Unreachable(error.to_string()),
            Error::Timeout(_) | Error::HostNotFound | Error::ConnectionFailed => {
                Self::Unreachable(error.to_string())
            }
            Error::ConnectProxyFailed(reason) => Self::of_proxy(&reason),
            _ => Self::Unusable(error.to_string()),
        }
    }
}

impl Failure {
    /// `problem` is in the words of the encryption's library.
    fn of_encryption(problem: &str) -> Self {
        match problem.strip_prefix("invalid peer certificate: ") {
            Some("UnknownIssuer") => Self::Untrusted,
            Some(problem) if problem.contains("CaUsedAsEndEntity") => Self::Unusable(
                "its certificate is that of an authority, which no server may show; make it one with \
                 `basicConstraints=critical,CA:FALSE`"
                    .to_owned(),
            ),
            Some(problem) => Self::Unusable(format!("its certificate is not valid: {problem}")),
            None if problem.contains("InvalidContentType") => {
                Self::Unusable("it does not speak TLS: is its address one with http://?".to_owned())
            }
            None => Self::Unusable(format!("no encryption comes about: {problem}")),
        }
    }

    /// A proxy that lets nobody through now may do so later, unless it says that the request is wrong.
    fn of_proxy(reason: &str) -> Self {
        if reason.contains("responded 407") {
            return Self::Unusable(
                "the proxy wants a name and a password, or other ones: http://NAME:PASSWORD@HOST:PORT"
                    .to_owned(),
            );
        }
        let problem = format!("the proxy does not connect: {reason}");
        if reason.contains("responded 4") {
            Self::Unusable(problem)
        } else {
            Self::Unreachable(problem)
        }
    }
}

/// How requests travel.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    proxy: Option<Proxy>,
    authorities: RootCerts,
    idle: Duration,
    limits: ResponseLimits,
}

impl Http {
    /// The transport for an endpoint.
    ///
    /// # Errors
    /// When its proxy is no address.
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Self, Failure> {
        let proxy = endpoint.proxy.as_deref().map(Proxy::new).transpose()?;
        let authorities = endpoint.authorities.clone().map_or(RootCerts::WebPki, RootCerts::from);
        Ok(Self { proxy, authorities, idle: endpoint.idle_timeout, limits: endpoint.limits })
    }

    /// The proxy's host and port; its password is nobody's business.
    pub(crate) fn proxy(&self) -> Option<String> {
        let proxy = self.proxy.as_ref()?;
        Some(format!("{}:{}", proxy.host(), proxy.port()))
    }

    /// Sends a request. The response comes with its status, whatever that is, and its body is still to be read.
    pub(crate) fn send(
        &self,
        request: Request<Vec<u8>>,
        cancel: &Cancel,
        last_words: &LastWords,
    ) -> Result<Response<Chunks>, Failure> {
        let (sender, pieces) = sync_channel(AHEAD);
        let abandoned = Arc::<AtomicBool>::default();
        let (http, watch) =
            (self.clone(), Watch { cancel: cancel.clone(), abandoned: Arc::clone(&abandoned) });
        thread::Builder::new()
            .name("model".to_owned())
            .spawn(move || http.exchange(request, watch, &sender))
            .map_err(|error| Failure::Unreachable(format!("no thread can be started: {error}")))?;
        let limits = self.limits;
        let chunks = Chunks {
            pieces: Some(pieces),
            watch: Watch { cancel: cancel.clone(), abandoned },
            begun: Instant::now(),
            limits,
            read: 0,
            last_words: last_words.clone(),
        };
        match chunks.piece()? {
            Piece::Head(head) => Ok(Response::from_parts(*head, chunks)),
            Piece::Chunk(_) | Piece::End => Err(Failure::Unreachable(BROKEN.to_owned())),
        }
    }

    /// Sends a request and hands its response over piece by piece, until there is no more or nobody takes it.
    fn exchange(
        &self,
        request: Request<Vec<u8>>,
        watch: Watch,
        sender: &SyncSender<Result<Piece, Failure>>,
    ) {
        let response = match self.agent(watch).run(request) {
            Ok(response) => response,
            Err(error) => {
                let _gone = sender.send(Err(error.into()));
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
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // The key was for this server, and for no other that it names.
            .max_redirects(0)
            .proxy(self.proxy.clone())
            .tls_config(TlsConfig::builder().root_certs(self.authorities.clone()).build())
            .timeout_connect(Some(CONNECT.min(self.idle)))
            // Keys travel in headers of the providers' own, which would go along to wherever a server points.
            .max_redirects(0)
            .max_idle_connections(0)
            .user_agent(AutoHeaderValue::Provided(
                concat!("tenter/", env!("CARGO_PKG_VERSION")).to_owned().into(),
            ))
            .build();
        let watched = Watched { watch, idle: self.idle };
        let connector =
            ().chain(SocksConnector::default())
                .chain(ConnectProxyConnector::default())
                .chain(TcpConnector::default())
                .chain(watched)
                .chain(RustlsConnector::default());
        Agent::with_parts(config, connector, DefaultResolver::default())
    }
}

/// The last that a server said, which is an error where a response breaks off without a word that the library knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    /// Bytes that are kept.
    const KEPT: usize = 4096;

    fn add(&self, chunk: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(chunk);
        let surplus = kept.len().saturating_sub(Self::KEPT);
        kept.drain(..surplus);
    }

    /// The data of a closing `event: error`, if there is one.
    pub(crate) fn error(&self) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let (_, event) = text.rsplit_once("event: error")?;
        let data = event.lines().find_map(|line| line.strip_prefix("data:"))?;
        Some(data.trim().to_owned())
    }
}

/// What a connection's thread hands over.
enum Piece {
    Head(Box<Parts>),
    Chunk(Vec<u8>),
    End,
}

fn next_chunk(body: &mut Body) -> Result<Piece, Failure> {
    let mut chunk = vec![0; CHUNK];
    match body.as_reader().read(&mut chunk) {
        Ok(0) => Ok(Piece::End),
        Ok(read) => {
            chunk.truncate(read);
            Ok(Piece::Chunk(chunk))
        }
        Err(error) => Err(Failure::Unreachable(error.to_string())),
    }
}

const BROKEN: &str = "the connection broke";

/// Whether anybody still wants the response.
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

/// A response's body, piece by piece, within its limits. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Chunks {
    /// None once the body is over.
    pieces: Option<Receiver<Result<Piece, Failure>>>,
    watch: Watch,
    begun: Instant,
    limits: ResponseLimits,
    /// Bytes so far.
    read: u64,
    last_words: LastWords,
}

impl Chunks {
    /// The next piece, as soon as there is one.
    fn piece(&self) -> Result<Piece, Failure> {
        let Some(pieces) = &self.pieces else { return Ok(Piece::End) };
        loop {
            if self.watch.is_over() {
                return Err(Failure::Unreachable("interrupted".to_owned()));
            }
            if self.begun.elapsed() >= self.limits.time {
                let problem = format!("its response takes longer than {:?}", self.limits.time);
                return Err(Failure::OverLimit(problem));
            }
            match pieces.recv_timeout(LOOK) {
                Ok(piece) => return piece,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Unreachable(BROKEN.to_owned()));
                }
            }
        }
    }

    /// Counts a chunk, and keeps the end of it for an error.
    fn count(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        self.read += chunk.len() as u64;
        if self.read > self.limits.bytes {
            let problem = format!("its response is larger than {}", size(self.limits.bytes));
            return Err(Failure::OverLimit(problem));
        }
        self.last_words.add(chunk);
        Ok(())
    }
}

impl Iterator for Chunks {
    type Item = Result<Vec<u8>, Failure>;

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

/// A number of bytes, for an error.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{bytes} bytes")
    }
}

/// Puts the watch into a connection, below the encryption.
#[derive(Debug)]
struct Watched {
    watch: Watch,
    idle: Duration,
}

impl<In: Transport> Connector<In> for Watched {
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

/// A connection whose waits end when they should.
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
        let begun = Instant::now();
        let allowed = timeout.after.min(self.idle.into());
        loop {
            if self.watch.is_over() {
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "interrupted").into());
            }
            match self.inner.await_input(NextTimeout { after: LOOK.into(), ..timeout }) {
                Err(Error::Timeout(_)) if begun.elapsed() < *allowed => {}
                Err(Error::Timeout(_)) => return Err(silent(*allowed)),
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

fn silent(allowed: Duration) -> Error {
    let problem = format!("the server said nothing for {} s", allowed.as_secs());
    io::Error::new(io::ErrorKind::TimedOut, problem).into()
}
