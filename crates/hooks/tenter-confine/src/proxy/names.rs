//! Looks up the names of servers in the proxy.

use std::io;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use tenter_base::server_names::{self, GETENT, GETENT_ARGUMENTS};

/// See [`server_names::look_up`].
pub(super) fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    server_names::look_up(host, port, |name| {
        #[expect(clippy::disallowed_methods, reason = "this crate needs no supervised processes")]
        let mut getent = Command::new(GETENT);
        let output = getent.args(GETENT_ARGUMENTS).arg(name).stdin(Stdio::null()).output()?;
        Ok(output.status.success().then_some(output.stdout))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_names_are_looked_up_without_a_network() {
        assert!(resolve("localhost", 1).unwrap().iter().all(|address| address.ip().is_loopback()));
        assert!(resolve("no.such.name.invalid", 1).is_err());
    }
}
