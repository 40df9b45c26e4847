//! What a hook run depends on besides its event: what ends it before it is done, and the services that it may request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_proc::Cancel;

use super::Failure;
use crate::services::Services;

/// Ends hook runs when the switch is thrown, and at the deadline if there is one; answers what hooks request.
#[derive(Clone, Copy)]
pub(crate) struct RunContext<'c> {
    pub(crate) cancel: &'c Cancel,
    pub(crate) deadline: Option<Instant>,
    /// The services of the embedding program; none are supported without them.
    pub(crate) services: Option<&'c Arc<dyn Services>>,
}

impl<'c> From<&'c Cancel> for RunContext<'c> {
    fn from(cancel: &'c Cancel) -> Self {
        Self { cancel, deadline: None, services: None }
    }
}

impl RunContext<'_> {
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
