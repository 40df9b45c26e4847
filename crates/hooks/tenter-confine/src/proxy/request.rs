//! The head of a request to the proxy.

use std::io::{self, Read};

/// Maximum size of a head, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// Maximum number of header fields.
const MAX_HEADERS: usize = 100;
/// Fields that are for the proxy, not for the server.
const HOP_BY_HOP: [&str; 6] =
    ["host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te"];

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProxyRequest {
    /// The name or address of the server, without brackets.
    pub(super) host: String,
    /// Its port.
    pub(super) port: u16,
    /// True for `CONNECT`, whose connection is the client's.
    pub(super) is_tunnel: bool,
    /// The first bytes for the server: the head for it, and what the client sent after the head.
    pub(super) first_bytes: Vec<u8>,
}

impl ProxyRequest {
    /// Reads a request; `None` if there is none, or it has an error.
    pub(super) fn read(client: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 8192];
        loop {
            let count = client.read(&mut buffer)?;
            if count == 0 {
                return Ok(None);
            }
            bytes.extend_from_slice(&buffer[..count]);
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut request = httparse::Request::new(&mut headers);
            match request.parse(&bytes) {
                Ok(httparse::Status::Complete(length)) => {
                    return Ok(Self::parse(&request, &bytes[length..]));
                }
                Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => {}
                _ => return Ok(None),
            }
        }
    }

    fn parse(request: &httparse::Request<'_, '_>, rest: &[u8]) -> Option<Self> {
        let (method, target) = (request.method?, request.path?);
        if method == "CONNECT" {
            let (host, port) = split_authority(target)?;
            let first_bytes = rest.to_vec();
            return Some(Self { host, port: port?, is_tunnel: true, first_bytes });
        }
        let rest_of_url = target.strip_prefix("http://")?;
        let end = rest_of_url.find(['/', '?', '#']).unwrap_or(rest_of_url.len());
        let (authority, path) = rest_of_url.split_at(end);
        let (host, port) = split_authority(authority)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut head =
            format!("{method} {slash}{path} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
        for header in request.headers.iter() {
            if HOP_BY_HOP.iter().any(|name| header.name.eq_ignore_ascii_case(name)) {
                continue;
            }
            head.extend([header.name.as_bytes(), b": ", header.value, b"\r\n"].concat());
        }
        head.extend_from_slice(b"Connection: close\r\n\r\n");
        head.extend_from_slice(rest);
        Some(Self { host, port: port.unwrap_or(80), is_tunnel: false, first_bytes: head })
    }
}

/// Splits `host:port` or `[address]:port`. One with a user is no host.
fn split_authority(authority: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(host, rest)| (host, rest.strip_prefix(':')))?,
        None => {
            authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)))
        }
    };
    let port = port.map(str::parse).transpose().ok()?;
    let is_host = !host.is_empty() && !host.contains(['@', '/', '\\', '%']);
    is_host.then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<ProxyRequest> {
        ProxyRequest::read(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn a_tunnel_has_a_host_and_a_port() {
        let request = read("CONNECT github.com:443 HTTP/1.1\r\nHost: other\r\n\r\nhello").unwrap();
        assert_eq!((request.host.as_str(), request.port), ("github.com", 443));
        assert!(request.is_tunnel);
        assert_eq!(request.first_bytes, b"hello");
        assert_eq!(read("CONNECT [::1]:80 HTTP/1.1\r\n\r\n").unwrap().host, "::1");
    }

    #[test]
    fn a_request_for_a_url_becomes_one_for_the_server() {
        let request = read(
            "POST http://a.example:81/x?y HTTP/1.1\r\nHost: other\r\nProxy-Authorization: z\r\nA: b\r\nConnection: keep-alive\r\n\r\nbody",
        )
        .unwrap();
        assert_eq!((request.host.as_str(), request.port), ("a.example", 81));
        let expected =
            "POST /x?y HTTP/1.1\r\nHost: a.example:81\r\nA: b\r\nConnection: close\r\n\r\nbody";
        assert_eq!(String::from_utf8(request.first_bytes).unwrap(), expected);
        let bare = read("GET http://a.example?q HTTP/1.1\r\n\r\n").unwrap();
        assert!(bare.first_bytes.starts_with(b"GET /?q HTTP/1.1\r\nHost: a.example\r\n"));
        assert_eq!(bare.port, 80);
    }

    #[test]
    fn other_requests_are_errors() {
        for text in [
            "",
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://a.example/ HTTP/1.1\r\n\r\n",
            "GET http://user@a.example/ HTTP/1.1\r\n\r\n",
            "CONNECT github.com HTTP/1.1\r\n\r\n",
            "CONNECT github.com:x HTTP/1.1\r\n\r\n",
            "CONNECT :443 HTTP/1.1\r\n\r\n",
            "hello\r\n\r\n",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
        let long = format!("GET http://a.example/ HTTP/1.1\r\nA: {}", "x".repeat(MAX_HEAD));
        assert_eq!(read(&long), None);
    }
}
