//! The state that the threads that call a hook share with the thread that reads its output.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tenter_proc::NotSent;

use super::caller::{EventCaller, ServiceProvider};
use super::connection::Connection;
use super::question_clock::QuestionClock;
use super::requests::Requests;
use crate::hook::Hook;
use crate::run_end::RunEnd;

/// The state that the threads that call the hook share with the thread that reads its output.
pub(super) struct Shared {
    pub(super) requests: Mutex<Requests<EventCaller>>,
    pub(super) changed: Condvar,
    /// Set before anything is sent.
    pub(super) connection: OnceLock<Box<dyn Connection>>,
    pub(super) hook: Arc<Hook>,
    /// Provides the services of the engine.
    pub(super) provider: Option<Weak<dyn ServiceProvider>>,
    pub(super) clock: Arc<QuestionClock>,
}

impl Shared {
    pub(super) fn requests(&self) -> MutexGuard<'_, Requests<EventCaller>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn connection(&self) -> Option<&dyn Connection> {
        self.connection.get().map(AsRef::as_ref)
    }

    pub(super) fn send(&self, line: &str) -> Result<(), NotSent> {
        self.connection()
            .map_or(Err(NotSent::Closed), |connection| connection.send(line.as_bytes()))
    }

    pub(super) fn kill(&self) {
        if let Some(connection) = self.connection() {
            connection.close(Duration::ZERO);
        }
    }

    /// Waits for a change, for at most `timeout`.
    pub(super) fn wait<'r>(
        &self,
        requests: MutexGuard<'r, Requests<EventCaller>>,
        timeout: Option<Duration>,
    ) -> MutexGuard<'r, Requests<EventCaller>> {
        match timeout {
            Some(timeout) => {
                let waited = self.changed.wait_timeout(requests, timeout);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.changed.wait(requests).unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Ends the conversation because of what the hook did.
    pub(super) fn fail(&self, why: String) {
        self.requests().end(RunEnd::Unknown, why);
        self.changed.notify_all();
        self.kill();
    }
}
