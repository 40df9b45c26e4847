//! Points in time on the command line: a time, a date, or an age.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

/// A point in time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Since {
    /// At this time.
    At(Timestamp),
    /// So long ago.
    Ago(SignedDuration),
    /// The start of the day (UTC), this many days ago.
    Midnight(i64),
}

impl Since {
    /// Reads a time, a date (UTC), or an age.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "today" => return Ok(Self::Midnight(0)),
            "yesterday" => return Ok(Self::Midnight(1)),
            _ => {}
        }
        let in_utc =
            |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp());
        let date = || {
            text.parse::<Date>().ok().map(|date| date.to_datetime(jiff::civil::Time::midnight()))
        };
        let local = || text.parse::<DateTime>().ok().or_else(date).and_then(in_utc);
        if let Some(time) = text.parse::<Timestamp>().ok().or_else(local) {
            return Ok(Self::At(time));
        }
        let age = text.parse::<Span>().ok();
        let age = age.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
        age.map(|age| Self::Ago(age.abs())).ok_or_else(|| {
            "give a time such as 2026-03-01T09:30:00Z, a date, `today`, `yesterday`, or an age such as 2h, 30m or 7d"
                .to_owned()
        })
    }

    /// Returns the point in time, seen from `now`.
    pub(crate) fn before(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::Ago(age) => now.saturating_sub(age).unwrap_or(Timestamp::MIN),
            Self::Midnight(days) => {
                let age = SignedDuration::from_hours(days.saturating_mul(24));
                let day = now.saturating_sub(age).unwrap_or(Timestamp::MIN);
                let midnight = day.to_zoned(TimeZone::UTC).start_of_day();
                midnight.map_or(day, |midnight| midnight.timestamp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tenter_base::rfc3339;

    use super::*;

    fn earliest(text: &str) -> Option<String> {
        let now = "2026-03-08T12:00:00Z".parse().unwrap();
        Some(rfc3339(Since::parse(text).ok()?.before(now)))
    }

    #[test]
    fn since_is_a_time_a_date_or_an_age() {
        for (text, time) in [
            ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z"),
            ("2026-03-01T09:30:00+01:00", "2026-03-01T08:30:00.000Z"),
            ("2026-03-01 09:30", "2026-03-01T09:30:00.000Z"),
            ("2026-03-01", "2026-03-01T00:00:00.000Z"),
            ("2h", "2026-03-08T10:00:00.000Z"),
            ("1d 12h", "2026-03-07T00:00:00.000Z"),
            ("1w", "2026-03-01T12:00:00.000Z"),
            ("today", "2026-03-08T00:00:00.000Z"),
            ("yesterday", "2026-03-07T00:00:00.000Z"),
        ] {
            assert_eq!(earliest(text).as_deref(), Some(time), "{text}");
        }
        for text in ["", "5", "tomorrow", "2 moons"] {
            assert_eq!(earliest(text), None, "{text}");
        }
    }
}
