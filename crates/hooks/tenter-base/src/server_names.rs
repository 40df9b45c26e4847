//! Looks up the addresses of servers as every program of the system does.
//!
//! The C library loads modules for that, which must be of its own version. The programs of packages are linked statically, with a version of
//! their own, so `getent` looks up names, which comes with the system's C library.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

/// The program of the system that looks up names.
pub const GETENT: &str = "/usr/bin/getent";
/// Its arguments before the name.
pub const GETENT_ARGUMENTS: [&str; 2] = ["ahosts", "--"];

/// Returns the addresses of a server, whose name may be an address itself. `getent` runs [`GETENT`] with a name, and returns its output, or
/// `None` if it does not know the name. Where there is no such program, the C library looks up the name.
///
/// # Errors
/// The name has no address, or nothing looks up names.
pub fn look_up(
    name: &str,
    port: u16,
    getent: impl FnOnce(&str) -> io::Result<Option<Vec<u8>>>,
) -> io::Result<Vec<SocketAddr>> {
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = literal.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    match getent(name) {
        Ok(Some(lines)) => Ok(addresses(&lines, port)),
        Ok(None) => Err(io::Error::other("the name is not known")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok((name, port).to_socket_addrs()?.collect())
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
    fn addresses_need_no_look_up() {
        let getent = |name: &str| panic!("{name} was looked up");
        assert_eq!(look_up("127.0.0.1", 1, getent).unwrap(), ["127.0.0.1:1".parse().unwrap()]);
        assert_eq!(look_up("[::1]", 1, getent).unwrap(), ["[::1]:1".parse().unwrap()]);
    }

    #[test]
    fn without_getent_the_c_library_looks_up_names() {
        let missing = |_: &str| Err(io::ErrorKind::NotFound.into());
        let addresses = look_up("localhost", 1, missing).unwrap();
        assert!(
            !addresses.is_empty() && addresses.iter().all(|address| address.ip().is_loopback())
        );
        assert!(look_up("localhost", 1, |_| Ok(None)).is_err());
    }
}
