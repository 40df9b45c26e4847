//! Decides which requests are answered: those with the token that address this server by its own name. Another user of the
//! machine does not have the token; a page of another site has neither, even if its name resolves to this machine (DNS
//! rebinding).

use std::io;

use subtle::ConstantTimeEq as _;
use tenter_base::hex;

use crate::http::Request;

/// The key to the pages.
pub(super) struct Access {
    port: u16,
    token: String,
}

impl Access {
    /// Creates a new token for the server at `port`.
    pub(super) fn new(port: u16) -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self { port, token: hex(&bytes) })
    }

    /// Returns the address of the first page.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Returns the token.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns true if a request may be answered.
    pub(super) fn permits(&self, request: &Request) -> bool {
        let has_token = request.value("token").is_some_and(|token| {
            // The time that this takes says nothing about the token.
            token.as_bytes().ct_eq(self.token.as_bytes()).into()
        });
        self.is_host(request.host()) && has_token
    }

    /// Returns true if the `Host` header names this server.
    fn is_host(&self, host: Option<&str>) -> bool {
        let Some((name, port)) = host.and_then(|host| host.rsplit_once(':')) else { return false };
        ["127.0.0.1", "localhost"].contains(&name) && port == self.port.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_needs_the_token_and_the_name_of_this_server() {
        let access = Access::new(4711).unwrap();
        let permits = |host: &str, target: &str| {
            let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            access.permits(&Request::parse(head.as_bytes()).unwrap().unwrap())
        };
        let good = format!("/?token={}", access.token());
        assert!(permits("127.0.0.1:4711", &good) && permits("localhost:4711", &good));
        for host in ["evil.example:4711", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil:4711", ""] {
            assert!(!permits(host, &good), "{host}");
        }
        let long = format!("{good}0");
        for target in ["/", "/?token=", "/?token=0", &long, "/?Token=x"] {
            assert!(!permits("127.0.0.1:4711", target), "{target}");
        }
        assert_ne!(Access::new(1).unwrap().token(), access.token());
    }
}
