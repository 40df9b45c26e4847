//! The endpoint of a hook behind HTTP: its URL, and the headers of requests to it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// Maximum length of a URL in bytes.
pub(crate) const MAX_URL_LENGTH: usize = 2048;
/// Headers that Tenter sets itself, and headers of proxies and connections.
const RESERVED_HEADERS: [&str; 16] = *tenter_base::words!(
    "accept accept-encoding connection content-encoding content-length content-type expect host
     keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade
     user-agent"
);
/// The prefix of a header's value: the rest is the name of an environment variable.
const VARIABLE_PREFIX: &str = "env:";

/// The URL of a hook behind HTTP, and the headers of requests to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpEndpoint {
    /// The URL that payloads are posted to: `https://`, or `http://` on this machine.
    pub url: String,
    /// The name of each header, with the environment variable that holds its value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
}

/// Checks the URL of a hook.
///
/// # Errors
/// The problem, as the end of a sentence that begins with the URL.
pub fn check_url(url: &str) -> Result<(), &'static str> {
    if url.len() > MAX_URL_LENGTH {
        return Err("has more than 2048 bytes");
    }
    if !url.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte)) {
        return Err("has characters that must be percent-encoded");
    }
    let (scheme, rest) = url.split_once("://").ok_or("has no scheme")?;
    if rest.contains('#') {
        return Err("has a fragment, which is never sent");
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("contains a user name; a secret belongs in `headers`");
    }
    let (host, port) = host_and_port(authority).ok_or("has no valid host")?;
    if port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err("has no valid port");
    }
    match scheme {
        "https" => Ok(()),
        "http" if is_loopback(host) => Ok(()),
        "http" => Err("is not encrypted; http:// is only possible on this machine"),
        _ => Err("is neither https:// nor http://"),
    }
}

/// Splits `host`, `host:port`, `[address]` or `[address]:port`.
fn host_and_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (address, after) = bracketed.split_once(']')?;
        address.parse::<Ipv6Addr>().ok()?;
        let port = after.strip_prefix(':');
        return (port.is_some() || after.is_empty()).then_some((address, port));
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_valid = !host.is_empty() && !port.is_some_and(|port| port.contains(':'));
    is_valid.then_some((host, port))
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Checks the name of a header.
///
/// # Errors
/// The problem, as the end of a sentence that begins with the name.
pub fn check_header(name: &str) -> Result<(), &'static str> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("is not the name of a header");
    }
    if RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Err("is set by Tenter");
    }
    Ok(())
}

/// Returns the environment variable that a header's value names as `env:NAME`; `None` if it is anything else.
pub fn header_variable(value: &str) -> Option<&str> {
    value.strip_prefix(VARIABLE_PREFIX).filter(|name| is_variable(name))
}

/// Returns true if this can be the name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_encrypted_unless_they_are_on_this_machine() {
        for url in *tenter_base::words!(
            "https://hooks.example.com/tenter https://hooks.example.com:8443/a/b?team=x&y=%20
             https://10.0.0.7 https://[2001:db8::7]:443/x http://localhost:8080/hook
             http://LOCALHOST http://127.0.0.1:9/ http://127.9.9.9 http://[::1]:8080/x"
        ) {
            assert_eq!(check_url(url), Ok(()), "{url}");
        }
        for (url, expected) in [
            ("http://example.com", "not encrypted"),
            ("http://localhost.example.com", "not encrypted"),
            ("http://0.0.0.0", "not encrypted"),
            ("http://[2001:db8::7]", "not encrypted"),
            ("http://127.0.0.1.example.com", "not encrypted"),
            ("HTTP://127.0.0.1", "neither"),
            ("ftp://localhost/x", "neither"),
            ("file:///etc/passwd", "host"),
            ("localhost:8080", "scheme"),
            ("", "scheme"),
            ("https://", "host"),
            ("https:///x", "host"),
            ("https://?x", "host"),
            ("https://[::1", "host"),
            ("https://[::1]x", "host"),
            ("https://a:b:c/", "host"),
            ("https://example.com:99999", "port"),
            ("https://example.com:", "port"),
            ("https://ada:secret@example.com", "user name"),
            ("http://127.0.0.1@example.com", "user name"),
            ("https://example.com/#x", "fragment"),
            ("https://example.com/a b", "percent-encoded"),
            ("https://exämple.com/", "percent-encoded"),
            ("http://127.0.0.1\\@example.com", "percent-encoded"),
            ("https://example.com/\n", "percent-encoded"),
        ] {
            let error = check_url(url).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
        }
        assert!(check_url(&format!("https://example.com/{}", "x".repeat(2048))).is_err());
    }

    #[test]
    fn headers_are_those_that_tenter_does_not_set() {
        for name in ["Authorization", "X-Team", "x_y"] {
            assert_eq!(check_header(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a:b", "a\nb", "ü", "Host", "Content-Length", "ACCEPT-ENCODING"] {
            assert!(check_header(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_header_names_a_variable() {
        assert_eq!(header_variable("env:TEAM_TOKEN"), Some("TEAM_TOKEN"));
        for value in ["env:", "env:A B", "env:1A", "TEAM_TOKEN", "Bearer x", "ENV:A", ""] {
            assert_eq!(header_variable(value), None, "{value}");
        }
    }
}
