//! Versions of hosts.

use std::fmt;

/// A version of a host: its first three numbers.
///
/// ```
/// use tenter_bridge::host::HostVersion;
///
/// let version = HostVersion::parse("0.169.0-alpha.1").unwrap();
/// assert_eq!(version, HostVersion::new(0, 169, 0));
/// assert!(version < HostVersion::new(1, 0, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostVersion([u32; 3]);

impl HostVersion {
    /// Earlier than every version.
    pub const EARLIEST: Self = Self([0; 3]);
    /// Later than every version.
    pub const LATEST: Self = Self([u32::MAX; 3]);

    /// Creates a version from its numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self([major, minor, patch])
    }

    /// Reads the numbers at the start of a text; missing ones are 0. `None` if the text does not begin with a number.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = [0; 3];
        let mut parts = text.split(|c: char| !c.is_ascii_digit());
        numbers[0] = parts.next()?.parse().ok()?;
        for (number, part) in numbers[1..].iter_mut().zip(parts) {
            let Ok(value) = part.parse() else { break };
            *number = value;
        }
        Some(Self(numbers))
    }
}

impl fmt::Display for HostVersion {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let parse = |text| HostVersion::parse(text).unwrap();
        let since = HostVersion::new(2, 1, 330);
        assert!(parse("2.1.330") >= since && parse("2.10.0-beta.1") >= since);
        assert!(parse("2.1.99") < since && parse("2.1") < since && parse("2") < since);
        assert_eq!(parse("0.169.0-alpha.1").to_string(), "0.169.0");
        for text in ["", "v1.0", "claude", "99999999999.1"] {
            assert_eq!(HostVersion::parse(text), None, "{text}");
        }
    }
}
