//! A TLS proxy in front of a server: it decrypts connections and forwards them to a loopback address. The certificates are files of
//! this crate, valid until 2120. The key of the authority is deleted, so it cannot sign anything else.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use crate::listener::Listener;

/// The certificate of a server.
#[derive(Debug, Clone, Copy)]
pub enum Certificate {
    /// A certificate for `localhost` and 127.0.0.1, signed by the [`authority`].
    Signed,
    /// A self-signed certificate for the same names that is marked as an authority, as `openssl req -x509` creates it.
    SelfSigned,
}

impl Certificate {
    /// Returns the file of the certificate.
    pub fn file(self) -> PathBuf {
        fixture(match self {
            Self::Signed => "server.pem",
            Self::SelfSigned => "self-signed.pem",
        })
    }
}

/// Returns the certificate of the test authority, which is not trusted by default.
pub fn authority() -> PathBuf {
    fixture("ca.pem")
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls").join(name)
}

/// A running TLS proxy. Dropping it stops it.
#[derive(Debug)]
pub struct TlsFront(Listener);

impl TlsFront {
    /// Starts a proxy on a free port of 127.0.0.1 in front of the server at `url`.
    ///
    /// # Panics
    /// `url` is not an address, there is no free port, or a fixture cannot be read.
    pub fn start(certificate: Certificate, url: &str) -> Self {
        let behind = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let behind: SocketAddr =
            behind.parse().unwrap_or_else(|error| panic!("{url} is no address: {error}"));
        let config = config(certificate)
            .unwrap_or_else(|error| panic!("the certificate cannot be used: {error}"));
        Self(Listener::start(move |client| {
            let config = Arc::clone(&config);
            thread::spawn(move || {
                // Errors of a connection are reported by the client.
                let _result = carry(&client, config, behind);
                let _result = client.shutdown(Shutdown::Both);
            });
        }))
    }

    /// Returns the HTTPS address of `url` through the proxy.
    pub fn url(&self, url: &str) -> String {
        let path = url.trim_start_matches("http://").split_once('/').map(|(_, path)| path);
        let path = path.map(|path| format!("/{path}")).unwrap_or_default();
        format!("https://{}{path}", self.0.address)
    }
}

fn config(certificate: Certificate) -> Result<Arc<ServerConfig>, Box<dyn std::error::Error>> {
    let chain = CertificateDer::pem_slice_iter(&fs::read(certificate.file())?)
        .collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(&fs::read(fixture("server-key.pem"))?)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok(Arc::new(config))
}

/// Forwards bytes between client and server until one of them closes.
fn carry(mut client: &TcpStream, config: Arc<ServerConfig>, behind: SocketAddr) -> io::Result<()> {
    let mut tls = ServerConnection::new(config).map_err(io::Error::other)?;
    while tls.is_handshaking() {
        tls.complete_io(&mut client)?;
    }
    let mut server = TcpStream::connect(behind)?;
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let plain = tls.process_new_packets().map_err(io::Error::other)?;
        let mut text = vec![0; plain.plaintext_bytes_to_read()];
        tls.reader().read_exact(&mut text)?;
        server.write_all(&text)?;
        let (from_client, from_server) = wait(client, &server)?;
        if from_client && tls.read_tls(&mut client)? == 0 {
            return Ok(());
        }
        if from_server {
            let count = server.read(&mut bytes)?;
            if count == 0 {
                tls.send_close_notify();
            }
            tls.writer().write_all(&bytes[..count])?;
            while tls.wants_write() {
                tls.write_tls(&mut client)?;
            }
            if count == 0 {
                return Ok(());
            }
        }
    }
}

/// Waits until the client or the server can be read, and returns which. End-of-file counts as readable.
fn wait(client: &TcpStream, server: &TcpStream) -> io::Result<(bool, bool)> {
    let mut both = [PollFd::new(client, PollFlags::IN), PollFd::new(server, PollFlags::IN)];
    poll(&mut both, None)?;
    Ok((!both[0].revents().is_empty(), !both[1].revents().is_empty()))
}
