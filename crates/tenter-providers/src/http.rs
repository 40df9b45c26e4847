//! The transport: one blocking request, whose response is read as it comes.
//!
//! Every request has a connection of its own: a handshake is nothing beside a model's thinking, and a connection that
//! went stale in the meantime is an error nobody can explain. Whoever waits for bytes looks at the switch ten times a
//! second, so that Ctrl-C ends a wait at once, and gives up when a server is silent for too long. Silence before the first
//! byte counts alike: a busy server at home keeps its clients waiting.

use std::fmt;
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

use crate::Endpoint;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(20);
/// How often whoever waits looks at the switch.
const LOOK: Duration = Duration::from_millis(100);
/// Bytes that are read at once at most.
const CHUNK: usize = 16 * 1024;

/// Why a request got no response.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server cannot be reached, or the connection broke: later it may work.
    Unreachable(String),
    /// It will never work like this: the address is none, or there is no encryption to be had.
    Unusable(String),
    /// Nobody who is trusted here signed the server's certificate.
    Untrusted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(problem) | Self::Unusable(problem) => f.write_str(problem),
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
}

impl Http {
    /// The transport for an endpoint.
    ///
    /// # Errors
    /// When its proxy is no address.
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Self, Failure> {
        let proxy = endpoint.proxy.as_deref().map(Proxy::new).transpose()?;
        let authorities = endpoint.authorities.clone().map_or(RootCerts::WebPki, RootCerts::from);
        Ok(Self { proxy, authorities, idle: endpoint.idle_timeout })
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
        let response = self.agent(cancel).run(request)?;
        Ok(response.map(|body| Chunks { body: Some(body), last_words: last_words.clone() }))
    }

    fn agent(&self, cancel: &Cancel) -> Agent {
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
        let watched = Watched { cancel: cancel.clone(), idle: self.idle };
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

/// A response's body, piece by piece.
#[derive(Debug)]
pub(crate) struct Chunks {
    body: Option<Body>,
    last_words: LastWords,
}

impl Iterator for Chunks {
    type Item = Result<Vec<u8>, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut chunk = vec![0; CHUNK];
        let read = self.body.as_mut()?.as_reader().read(&mut chunk);
        match read {
            Ok(0) => {
                self.body = None;
                None
            }
            Ok(read) => {
                chunk.truncate(read);
                self.last_words.add(&chunk);
                Some(Ok(chunk))
            }
            Err(error) => {
                self.body = None;
                Some(Err(Failure::Unreachable(error.to_string())))
            }
        }
    }
}

/// Puts the watch into a connection, below the encryption.
#[derive(Debug)]
struct Watched {
    cancel: Cancel,
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
            |inner| WatchedTransport { inner, cancel: self.cancel.clone(), idle: self.idle };
        Ok(chained.map(watched))
    }
}

/// A connection whose waits end when they should.
#[derive(Debug)]
struct WatchedTransport<In> {
    inner: In,
    cancel: Cancel,
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
            if self.cancel.is_cancelled() {
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
