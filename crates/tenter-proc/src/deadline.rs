//! A moment that may never come: waits of any length, without arithmetic that can overflow.

use std::time::{Duration, Instant};

/// A moment to wait for; one too far away to be counted never comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// The moment that comes `wait` from now.
    pub(crate) fn after(wait: Duration) -> Self {
        Self(Instant::now().checked_add(wait))
    }

    /// The earlier of two moments.
    pub(crate) fn or_sooner(self, wait: Duration) -> Self {
        match self.left() {
            Some(left) if left <= wait => self,
            _ => Self::after(wait),
        }
    }

    /// Whether the moment has come.
    pub(crate) fn passed(self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// How long until then, zero once it has passed; nothing where it never comes.
    pub(crate) fn left(self) -> Option<Duration> {
        self.0.map(|instant| instant.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_too_far_away_never_comes() {
        let never = Deadline::after(Duration::MAX);
        assert!(!never.passed());
        assert_eq!(never.left(), None);
        assert!(never.or_sooner(Duration::ZERO).passed());
    }

    #[test]
    fn the_sooner_moment_wins() {
        let soon = Deadline::after(Duration::ZERO);
        assert!(soon.or_sooner(Duration::from_mins(1)).passed());
        assert!(!Deadline::after(Duration::from_mins(1)).passed());
    }
}
