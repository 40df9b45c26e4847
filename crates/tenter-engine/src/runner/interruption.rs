//! What ends hook runs before they are done, besides their own timeouts: a switch and a deadline.

use std::time::{Duration, Instant};

use tenter_proc::Cancel;

use super::Failure;

/// Ends hook runs: when the switch is thrown, and at the deadline if there is one.
#[derive(Clone, Copy)]
pub(crate) struct Interruption<'c> {
    pub(crate) cancel: &'c Cancel,
    pub(crate) deadline: Option<Instant>,
}

impl<'c> From<&'c Cancel> for Interruption<'c> {
    fn from(cancel: &'c Cancel) -> Self {
        Self { cancel, deadline: None }
    }
}

impl Interruption<'_> {
    /// The time that a run may take if its own timeout is `own`.
    ///
    /// # Errors
    /// The deadline has passed.
    pub(super) fn timeout(&self, own: Duration) -> Result<Duration, Failure> {
        let Some(deadline) = self.deadline else { return Ok(own) };
        match deadline.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(Failure::TooLate),
            left => Ok(own.min(left)),
        }
    }
}
