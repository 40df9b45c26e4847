//! Resolves the names of hosts as every program of the system does.
//!
//! The C library loads modules for that, which must be of its own version. `tenter-hook` may be linked statically with another version, so
//! `getent` resolves names, which comes with the system's C library.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::process::{Command, Stdio};

/// The program of the system that resolves names.
const GETENT: &str = "/usr/bin/getent";

/// Returns the addresses of a host, which may be an address itself.
///
/// # Errors
/// The name has no address, or nothing resolves names.
pub(super) fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = literal.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    #[expect(clippy::disallowed_methods, reason = "this crate needs no supervised processes")]
    let mut getent = Command::new(GETENT);
    let output = getent.args(["ahosts", "--", host]).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(addresses(&output.stdout, port)),
        Ok(_) => Err(io::Error::other("the name is not known")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok((host, port).to_socket_addrs()?.collect())
        }
        Err(error) => Err(error),
    }
}

/// Reads lines such as `192.0.2.1  STREAM example.com`: one per address and type of socket.
fn addresses(lines: &[u8], port: u16) -> Vec<SocketAddr> {
    let lines = String::from_utf8_lossy(lines);
    let streams = lines.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (address, kind) = (words.next()?, words.next()?);
        (kind == "STREAM").then(|| address.parse::<IpAddr>().ok()).flatten()
    });
    streams.map(|ip| SocketAddr::new(ip, port)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_of_a_stream_is_read_once() {
        let lines = b"192.0.2.1       STREAM example.com\n192.0.2.1       DGRAM  \n\
            192.0.2.1       RAW    \n2001:db8::1     STREAM \nodd\n";
        let expected = ["192.0.2.1:80", "[2001:db8::1]:80"].map(|text| text.parse().unwrap());
        assert_eq!(addresses(lines, 80), expected);
    }

    #[test]
    fn addresses_and_local_names_are_resolved_without_a_network() {
        assert_eq!(resolve("127.0.0.1", 1).unwrap(), ["127.0.0.1:1".parse().unwrap()]);
        assert_eq!(resolve("[::1]", 1).unwrap(), ["[::1]:1".parse().unwrap()]);
        assert!(resolve("localhost", 1).unwrap().iter().all(|address| address.ip().is_loopback()));
        assert!(resolve("no.such.name.invalid", 1).is_err());
    }
}
