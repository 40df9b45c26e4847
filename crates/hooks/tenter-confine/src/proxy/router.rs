//! Connects to hosts that the rules allow. A name is resolved here, once, and the address that was checked is the one connected to: so
//! a name cannot change its address between the two.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};

use tenter_protocol::confinement::DomainRule;

use super::address::is_internal;
use super::names;
use super::upstream::{CONNECT_TIMEOUT, Upstream};

/// Maximum number of hosts whose refusal is reported.
const MAX_REPORTS: usize = 20;

type Resolve = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

/// The rules, and the way to servers.
#[derive(Debug)]
pub(super) struct Router {
    /// Lists of rules, each of which must allow a host.
    rules: Vec<Vec<DomainRule>>,
    upstream: Option<Upstream>,
    resolve: Resolve,
    reports: Mutex<BTreeSet<String>>,
}

/// The reason why a host was not reached.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The rules do not allow it.
    NotAllowed(String),
    /// The connection failed.
    Unreachable(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotAllowed(why) | Self::Unreachable(why)) = self;
        f.write_str(why)
    }
}

impl Router {
    pub(super) fn new(rules: Vec<Vec<DomainRule>>, upstream: Option<Upstream>) -> Self {
        Self { rules, upstream, resolve: names::resolve, reports: Mutex::default() }
    }

    /// Connects to a host, and reports to stderr if the rules do not allow it.
    pub(super) fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Refusal> {
        let connected = self.connect_silently(host, port);
        if let Err(refusal @ Refusal::NotAllowed(_)) = &connected {
            self.report(&refusal.to_string());
        }
        connected
    }

    fn connect_silently(&self, host: &str, port: u16) -> Result<TcpStream, Refusal> {
        let unreachable =
            |error: io::Error| Refusal::Unreachable(format!("{host}:{port}: {error}"));
        if !self.rules.iter().all(|rules| DomainRule::allow(rules, host, port)) {
            return Err(Refusal::NotAllowed(format!("{host}:{port} is not in network.allow")));
        }
        let literal = host.parse::<IpAddr>().ok();
        let is_named = self.rules.iter().all(|rules| DomainRule::name(rules, host, port));
        if let Some(upstream) = &self.upstream {
            if let Some(address) = literal.filter(|address| is_internal(*address) && !is_named) {
                return Err(internal(host, address));
            }
            let is_own =
                literal.map_or(is_named && is_localhost(host), |address| address.is_loopback());
            let is_reached = !is_own || upstream.reaches_localhost;
            if is_reached && !upstream.excludes(host) {
                return upstream.connect(host, port).map_err(unreachable);
            }
        }
        let mut last = io::Error::other("it has no address");
        let mut internal_address = None;
        for address in (self.resolve)(host, port).map_err(unreachable)? {
            if !self.may_reach(host, address) {
                internal_address = Some(address.ip());
                continue;
            }
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(server) => return Ok(server),
                Err(error) => last = error,
            }
        }
        Err(internal_address.map_or_else(|| unreachable(last), |address| internal(host, address)))
    }

    /// Returns true if a name may lead to this address: an internal one must be in the rules itself.
    fn may_reach(&self, host: &str, address: SocketAddr) -> bool {
        let (ip, port) = (address.ip().to_canonical(), address.port());
        let names = |host: &str| self.rules.iter().all(|rules| DomainRule::name(rules, host, port));
        !is_internal(ip)
            || names(&ip.to_string())
            || (ip.is_loopback() && is_localhost(host) && names(host))
    }

    /// Reports a refusal once.
    fn report(&self, why: &str) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        if reports.len() < MAX_REPORTS && reports.insert(why.to_owned()) {
            let _ = writeln!(io::stderr(), "tenter confine: {why}");
        }
    }
}

fn internal(host: &str, address: IpAddr) -> Refusal {
    Refusal::NotAllowed(format!(
        "{host}: {address} is an address of this machine or of a private network, and is not in network.allow itself"
    ))
}

fn is_localhost(host: &str) -> bool {
    host.trim_end_matches('.').eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn router(rules: &[&str], resolve: Resolve) -> Router {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        Router { resolve, ..Router::new(vec![rules], None) }
    }

    fn refusal(router: &Router, host: &str, port: u16) -> String {
        router.connect(host, port).unwrap_err().to_string()
    }

    #[test]
    fn a_name_that_leads_to_an_internal_address_is_refused_unless_the_address_is_listed() {
        let to_loopback: Resolve = |_, port| Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for (rules, host, expected) in [
            (&["rebound.example"][..], "rebound.example", false),
            (&["*"], "localhost", false),
            (&["*"], "127.1", false),
            (&["*"], "127.0.0.1", false),
            (&["localhost.example"], "localhost.example", false),
            (&["rebound.example", "127.0.0.1"], "rebound.example", true),
            (&["localhost"], "localhost", true),
            (&["127.0.0.1"], "127.0.0.1", true),
            (&["127.0.0.1", "!rebound.example"], "rebound.example", false),
        ] {
            let connected = router(rules, to_loopback).connect(host, port);
            assert_eq!(connected.is_ok(), expected, "{rules:?} {host}: {connected:?}");
        }
    }

    #[test]
    fn metadata_services_are_refused_by_name_and_address() {
        let to_metadata: Resolve =
            |_, port| Ok(vec![SocketAddr::from(([169, 254, 169, 254], port))]);
        let router = router(&["*"], to_metadata);
        for host in ["169.254.169.254", "metadata.example"] {
            let why = refusal(&router, host, 80);
            assert!(why.contains("169.254.169.254 is an address of this machine or"), "{why}");
        }
    }

    #[test]
    fn a_name_that_is_not_listed_is_never_resolved() {
        let never: Resolve = |host, _| panic!("{host} was resolved");
        let why = refusal(&router(&["example.com"], never), "example.org", 443);
        assert_eq!(why, "example.org:443 is not in network.allow");
    }

    #[test]
    fn every_list_must_allow_a_host() {
        let to_loopback: Resolve = |_, port| Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]);
        let mut both = router(&["localhost"], to_loopback);
        both.rules.push(vec!["*".parse().unwrap()]);
        // The second list allows the name, and not the address that it has.
        assert!(refusal(&both, "localhost", 1).contains("127.0.0.1"));
        both.rules.push(vec!["example.com".parse().unwrap()]);
        assert!(refusal(&both, "localhost", 1).contains("not in network.allow"));
    }
}
