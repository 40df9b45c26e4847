//! The context of a hook run: its cancellation, its deadline, and the services that it may request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_proc::Cancel;

use crate::failure::RunFailure;
use crate::observe::Transport;
use crate::services::Services;

/// Ends hook runs when the switch is thrown, and at the deadline if there is one; answers what hooks request.
#[derive(Clone, Copy)]
pub struct RunContext<'c> {
    pub(crate) cancel: &'c Cancel,
    pub(crate) deadline: Option<Instant>,
    /// The services of the embedding program; none are supported without them.
    pub(crate) services: Option<&'c Arc<dyn Services>>,
    /// The form in which runtime hooks are run; the runtime form if there is none.
    pub(crate) transport: Option<Transport>,
    /// The time that the user had been asked by hooks when the deadline was set: the deadline moves by what follows.
    pub(crate) pause: Duration,
}

impl<'c> From<&'c Cancel> for RunContext<'c> {
    fn from(cancel: &'c Cancel) -> Self {
        Self { cancel, deadline: None, services: None, transport: None, pause: Duration::ZERO }
    }
}

impl RunContext<'_> {
    /// Returns the time that a run may take if its own timeout is `own`, after the user has been asked for `pause` in all.
    ///
    /// # Errors
    /// The deadline has passed.
    pub(crate) fn timeout(&self, own: Duration, pause: Duration) -> Result<Duration, RunFailure> {
        match self.left(pause) {
            None => Ok(own),
            Some(Duration::ZERO) => Err(RunFailure::TooLate),
            Some(rest) => Ok(own.min(rest)),
        }
    }

    /// Returns the time until the deadline, if there is one, after the user has been asked for this time in all.
    pub(crate) fn left(&self, pause: Duration) -> Option<Duration> {
        let deadline = self.deadline? + pause.saturating_sub(self.pause);
        Some(deadline.saturating_duration_since(Instant::now()))
    }
}
