//! The proxy that this machine uses itself, for example in a confinement around this one.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::names;

/// The variables that name it, the first one that is set.
const VARIABLES: [&str; 6] =
    ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY"];
/// Maximum time for a connection to one address.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of the head of its answer, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// A proxy over HTTP.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Upstream {
    /// `host:port`.
    authority: String,
    /// The value of `Proxy-Authorization`.
    credentials: Option<String>,
    /// True if it also reaches hosts of its own machine: a launcher's proxy that may do so sets an empty `NO_PROXY`.
    pub(super) reaches_localhost: bool,
}

impl Upstream {
    /// Returns the proxy that the environment names. Others than `http://` cannot be used.
    pub(crate) fn in_variables(env: &[(OsString, OsString)]) -> Option<Self> {
        let value =
            |name: &&str| env.iter().find(|(known, value)| known == name && !value.is_empty());
        let (_, url) = VARIABLES.iter().find_map(value)?;
        let rest = url.to_str()?.strip_prefix("http://")?;
        let authority = rest.split('/').next()?;
        let (user, authority) =
            authority.rsplit_once('@').map_or((None, authority), |(user, rest)| (Some(user), rest));
        let has_port =
            authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let reaches_localhost =
            env.iter().any(|(name, value)| name == "NO_PROXY" && value.is_empty());
        Some(Self {
            reaches_localhost,
            authority: if has_port { authority.to_owned() } else { format!("{authority}:80") },
            credentials: user.map(|user| format!("Basic {}", BASE64_STANDARD.encode(user))),
        })
    }

    /// Opens a tunnel to a host, whose name this proxy resolves.
    pub(super) fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let no_address = || io::Error::other("the proxy has no address");
        let (name, own_port) = self.authority.rsplit_once(':').ok_or_else(no_address)?;
        let own_port = own_port.parse().map_err(|_| no_address())?;
        let address = names::resolve(name, own_port)?.into_iter().next().ok_or_else(no_address)?;
        let mut server = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)?;
        let target =
            if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let credentials = self.credentials.as_ref();
        let credentials = credentials
            .map_or_else(String::new, |value| format!("Proxy-Authorization: {value}\r\n"));
        write!(server, "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{credentials}\r\n")?;
        server.set_read_timeout(Some(CONNECT_TIMEOUT))?;
        let head = read_head(&mut server)?;
        server.set_read_timeout(None)?;
        let status = head.split(' ').nth(1).unwrap_or_default();
        if status.starts_with('2') {
            Ok(server)
        } else {
            Err(io::Error::other(format!("the proxy {} answered {status}", self.authority)))
        }
    }
}

/// Reads the head of an answer, byte by byte: what follows it is the server's.
fn read_head(server: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_HEAD || server.read(&mut byte)? == 0 {
            return Err(io::Error::other("the proxy gave no answer"));
        }
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(vars: &[(&str, &str)]) -> Option<Upstream> {
        let env: Vec<_> = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Upstream::in_variables(&env)
    }

    #[test]
    fn the_environment_names_the_proxy() {
        let expected = |authority: &str, credentials: Option<&str>| {
            let credentials = credentials.map(str::to_owned);
            Some(Upstream { authority: authority.into(), credentials, reaches_localhost: false })
        };
        assert_eq!(upstream(&[("HTTPS_PROXY", "http://p:3128/")]), expected("p:3128", None));
        assert_eq!(upstream(&[("http_proxy", "http://p")]), expected("p:80", None));
        assert_eq!(
            upstream(&[("all_proxy", "http://u:s@p:1"), ("HTTP_PROXY", "http://q:2")]),
            expected("p:1", Some("Basic dTpz"))
        );
        assert_eq!(upstream(&[("ALL_PROXY", "socks5://p:1")]), None);
        assert_eq!(upstream(&[("HTTPS_PROXY", "")]), None);
        assert!(
            upstream(&[("HTTPS_PROXY", "http://p"), ("NO_PROXY", "")]).unwrap().reaches_localhost
        );
    }
}
