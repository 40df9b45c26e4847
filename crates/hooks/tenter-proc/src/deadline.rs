//! Deadlines of any length, without overflow.

use std::time::{Duration, Instant};

/// A point in time. One too far away for an [`Instant`] is never reached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns the deadline `wait` from now.
    pub(crate) fn after(wait: Duration) -> Self {
        Self(Instant::now().checked_add(wait))
    }

    /// Returns the earlier of this deadline and `wait` from now.
    pub(crate) fn or_sooner(self, wait: Duration) -> Self {
        match self.left() {
            Some(rest) if rest <= wait => self,
            _ => Self::after(wait),
        }
    }

    /// Returns true if the deadline has passed.
    pub(crate) fn passed(self) -> bool {
        self.left().is_some_and(|rest| rest.is_zero())
    }

    /// Returns the time left, zero once the deadline has passed; `None` if it is never reached.
    pub(crate) fn left(self) -> Option<Duration> {
        self.0.map(|instant| instant.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_too_far_away_never_passes() {
        let never = Deadline::after(Duration::MAX);
        assert!(!never.passed());
        assert_eq!(never.left(), None);
        assert!(never.or_sooner(Duration::ZERO).passed());
    }

    #[test]
    fn the_earlier_deadline_wins() {
        let soon = Deadline::after(Duration::ZERO);
        assert!(soon.or_sooner(Duration::from_mins(1)).passed());
        assert!(!Deadline::after(Duration::from_mins(1)).passed());
    }
}
