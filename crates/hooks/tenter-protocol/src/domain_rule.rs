//! Rules for the hosts that a confined call may reach (F10).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum length of a name in the domain name system.
const MAX_NAME: usize = 253;

/// A host that may be reached, such as `github.com`, `*.crates.io` (the names below it), `localhost:8080`, `10.0.0.5` or `*`. With `!`
/// before it, one that may not.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DomainRule {
    is_exception: bool,
    host: HostPattern,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum HostPattern {
    Any,
    /// The names below this one.
    Below(String),
    Name(String),
    Address(IpAddr),
}

impl DomainRule {
    /// Returns true if `rules` allow the host: one of them applies to it, and no exception does. `host` is a name or an address.
    pub fn allow(rules: &[Self], host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let applies =
            |rule: &&Self| rule.port.is_none_or(|own| own == port) && rule.host.matches(&host);
        let mut applicable = rules.iter().filter(applies).peekable();
        applicable.peek().is_some() && applicable.all(|rule| !rule.is_exception)
    }

    /// Returns true if one of `rules` is this name or address itself, without a wildcard, and no exception applies to it.
    pub fn name(rules: &[Self], host: &str, port: u16) -> bool {
        let is_itself = |rule: &Self| {
            let has_wildcard = matches!(rule.host, HostPattern::Any | HostPattern::Below(_));
            !has_wildcard && Self::allow(std::slice::from_ref(rule), host, port)
        };
        rules.iter().any(is_itself) && Self::allow(rules, host, port)
    }

    /// Returns true if it allows a host on this machine.
    pub fn is_local(&self) -> bool {
        let is_local = match &self.host {
            HostPattern::Name(name) => name == "localhost",
            HostPattern::Address(address) => address.is_loopback(),
            HostPattern::Any | HostPattern::Below(_) => false,
        };
        is_local && !self.is_exception
    }
}

impl HostPattern {
    fn matches(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Below(parent) => {
                host.strip_suffix(parent.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            Self::Name(name) => host == name,
            Self::Address(address) => host.parse() == Ok(*address),
        }
    }
}

impl FromStr for DomainRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (is_exception, rest) = match text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let invalid = || {
            format!(
                "{text:?} is not a domain; write a name (example.com), the names below one (*.example.com), an address, or *, each with \
                 :PORT if only that port is meant"
            )
        };
        let (host, port) = split_port(rest).ok_or_else(invalid)?;
        let host = host_pattern(&host.to_ascii_lowercase()).ok_or_else(invalid)?;
        Ok(Self { is_exception, host, port })
    }
}

/// Splits `host:port`. An address of IPv6 with a port is in brackets.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            (address, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
        }
        None if text.parse::<IpAddr>().is_ok() => (text, None),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    match port {
        None => Some((host, None)),
        Some(port) => port.parse().ok().filter(|port| *port != 0).map(|port| (host, Some(port))),
    }
}

fn host_pattern(host: &str) -> Option<HostPattern> {
    if host == "*" {
        return Some(HostPattern::Any);
    }
    if let Ok(address) = host.parse() {
        return Some(HostPattern::Address(address));
    }
    let name = host.strip_prefix("*.").unwrap_or(host);
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        let is_character = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !label.is_empty() && label.chars().all(is_character)
    };
    if name.len() > MAX_NAME || !name.split('.').all(is_label) {
        return None;
    }
    let name = name.to_owned();
    Some(if host.starts_with("*.") { HostPattern::Below(name) } else { HostPattern::Name(name) })
}

impl TryFrom<String> for DomainRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<DomainRule> for String {
    fn from(rule: DomainRule) -> Self {
        rule.to_string()
    }
}

/// The rule as it is written in a confinement.
impl fmt::Display for DomainRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exception {
            f.write_str("!")?;
        }
        match (&self.host, self.port) {
            (HostPattern::Any, _) => f.write_str("*")?,
            (HostPattern::Below(name), _) => write!(f, "*.{name}")?,
            (HostPattern::Name(name), _) => f.write_str(name)?,
            (HostPattern::Address(IpAddr::V6(address)), Some(_)) => write!(f, "[{address}]")?,
            (HostPattern::Address(address), _) => write!(f, "{address}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(list: &[&str]) -> Vec<DomainRule> {
        list.iter().map(|rule| rule.parse().unwrap()).collect()
    }

    #[test]
    fn rules_apply_to_names_the_names_below_one_addresses_and_ports() {
        for (list, host, port, expected) in [
            (&["github.com"][..], "github.com", 443, true),
            (&["GitHub.com."], "GITHUB.com.", 22, true),
            (&["github.com"], "api.github.com", 443, false),
            (&["github.com"], "evilgithub.com", 443, false),
            (&["*.crates.io"], "static.crates.io", 443, true),
            (&["*.crates.io"], "a.b.crates.io", 443, true),
            (&["*.crates.io"], "crates.io", 443, false),
            (&["*.crates.io"], "xcrates.io", 443, false),
            (&["*"], "example.com", 443, true),
            (&["*", "!*.example.com"], "a.example.com", 443, false),
            (&["!a.example.com", "*.example.com"], "a.example.com", 443, false),
            (&["!example.com"], "example.org", 443, false),
            (&["localhost:8080"], "localhost", 8080, true),
            (&["localhost:8080"], "localhost", 8081, false),
            (&["10.0.0.5"], "10.0.0.5", 80, true),
            (&["::1"], "0:0:0:0:0:0:0:1", 80, true),
            (&["[::1]:80"], "::1", 81, false),
            (&[], "example.com", 443, false),
        ] {
            assert_eq!(DomainRule::allow(&rules(list), host, port), expected, "{list:?} {host}");
        }
    }

    #[test]
    fn a_wildcard_names_no_host() {
        for (list, expected) in [
            (&["10.0.0.5"][..], true),
            (&["10.0.0.5:80"], true),
            (&["10.0.0.5:81"], false),
            (&["*", "git.example.com"], false),
            (&["10.0.0.5", "!10.0.0.5:80"], false),
        ] {
            assert_eq!(DomainRule::name(&rules(list), "10.0.0.5", 80), expected, "{list:?}");
        }
    }

    #[test]
    fn rules_are_written_as_they_are_read_and_others_are_errors() {
        for text in
            ["github.com", "!*.example.com", "*", "localhost:80", "10.0.0.5", "[::1]:80", "::1"]
        {
            assert_eq!(text.parse::<DomainRule>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "!",
            "*.",
            "a..b",
            "*x.com",
            "a.*.com",
            "https://a.com",
            "a.com/x",
            "a.com:0",
            "a.com:x",
            "[::1",
            "[::1]x",
            "münchen.de",
            "a b",
        ] {
            assert!(text.parse::<DomainRule>().is_err(), "{text}");
        }
    }
}
