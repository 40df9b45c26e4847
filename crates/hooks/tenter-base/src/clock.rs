//! The clock, which callers pass in, and the format of times.

use jiff::{Timestamp, Unit};

/// Returns the current time. The binary passes the real clock, tests a fixed one.
pub type Clock = fn() -> Timestamp;

/// Formats a time for payloads and records: RFC 3339 in UTC with `Z`, in milliseconds (R41).
pub fn rfc3339(time: Timestamp) -> String {
    let time_in_millis = time.round(Unit::Millisecond).unwrap_or(time);
    format!("{time_in_millis:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_to_the_millisecond() {
        let time: Timestamp = "2024-01-15T10:30:00Z".parse().unwrap();
        assert_eq!(rfc3339(time), "2024-01-15T10:30:00.000Z");
    }
}
