//! The proxy that this machine uses itself, for example in a confinement around this one.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::names;

/// The variables that name it: the first one that has a proxy over HTTP.
const VARIABLES: [&str; 6] =
    ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy", "HTTP_PROXY"];
/// Maximum time for a connection to one address.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of the head of its answer, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The variables that list hosts which are reached without it.
const EXCEPTIONS: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// A proxy over HTTP.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Upstream {
    /// `host:port`.
    authority: String,
    /// The value of `Proxy-Authorization`.
    credentials: Option<String>,
    /// True if it also reaches hosts of its own machine: a launcher's proxy that may do so sets an empty `NO_PROXY`.
    pub(super) reaches_localhost: bool,
    /// Hosts, and ends of hosts, that are reached without it; `*` is every host.
    exceptions: Vec<String>,
}

impl Upstream {
    /// Returns the proxy that the environment names. Others than `http://` cannot be used.
    pub(crate) fn in_variables(env: &[(OsString, OsString)]) -> Option<Self> {
        let value = |name: &&str| {
            let (_, value) = env.iter().find(|(key, _)| key == name)?;
            value.to_str()
        };
        let rest =
            VARIABLES.iter().filter_map(value).find_map(|url| url.strip_prefix("http://"))?;
        let authority = rest.split('/').next()?;
        let (user, authority) =
            authority.rsplit_once('@').map_or((None, authority), |(user, rest)| (Some(user), rest));
        let has_port =
            authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let lists: Vec<&str> = EXCEPTIONS.iter().filter_map(value).collect();
        let names = lists.iter().flat_map(|list| list.split(',')).map(|name| {
            name.trim().trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase()
        });
        Some(Self {
            reaches_localhost: lists.contains(&""),
            exceptions: names.filter(|name| !name.is_empty()).collect(),
            authority: if has_port { authority.to_owned() } else { format!("{authority}:80") },
            credentials: user.map(|user| format!("Basic {}", BASE64_STANDARD.encode(user))),
        })
    }

    /// Returns true if a host is reached without this proxy.
    pub(super) fn excludes(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.exceptions.iter().any(|name| {
            let before = host.strip_suffix(name.as_str());
            name == "*" || before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
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
            Some(Upstream {
                authority: authority.into(),
                credentials,
                reaches_localhost: false,
                exceptions: Vec::new(),
            })
        };
        assert_eq!(upstream(&[("HTTPS_PROXY", "http://p:3128/")]), expected("p:3128", None));
        assert_eq!(upstream(&[("http_proxy", "http://p")]), expected("p:80", None));
        assert_eq!(
            upstream(&[("all_proxy", "http://u:s@p:1"), ("HTTP_PROXY", "http://q:2")]),
            expected("p:1", Some("Basic dTpz"))
        );
        assert_eq!(upstream(&[("ALL_PROXY", "socks5://p:1")]), None);
        assert_eq!(
            upstream(&[("ALL_PROXY", "socks5://p:1"), ("HTTP_PROXY", "http://q:2")]),
            expected("q:2", None)
        );
        assert_eq!(upstream(&[("HTTPS_PROXY", "")]), None);
        assert!(
            upstream(&[("HTTPS_PROXY", "http://p"), ("NO_PROXY", "")]).unwrap().reaches_localhost
        );
    }

    #[test]
    fn hosts_are_excepted_by_name_and_by_domain() {
        let env =
            [("HTTPS_PROXY", "http://p"), ("no_proxy", "localhost, .corp.example,*.test,10.0.0.5")];
        let proxy = upstream(&env).unwrap();
        for (host, expected) in [
            ("localhost", true),
            ("git.corp.example", true),
            ("CORP.example.", true),
            ("notcorp.example", false),
            ("a.test", true),
            ("10.0.0.5", true),
            ("github.com", false),
        ] {
            assert_eq!(proxy.excludes(host), expected, "{host}");
        }
        let everything = upstream(&[("HTTPS_PROXY", "http://p"), ("NO_PROXY", "*")]).unwrap();
        assert!(everything.excludes("github.com"));
    }
}
