//! The time, as a value that comes in.

use jiff::{Timestamp, Unit};

/// Tells the time. The binary passes the real clock; tests pass one that they set.
pub type Clock = fn() -> Timestamp;

/// A time as payloads and records write it: RFC 3339 in UTC with `Z`, to the millisecond (R41).
pub fn rfc3339(time: Timestamp) -> String {
    let rounded = time.round(Unit::Millisecond).unwrap_or(time);
    format!("{rounded:.3}")
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
