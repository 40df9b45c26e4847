//! The state that the threads that call a hook share with the thread that reads its output.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tenter_proc::NotSent;

use super::caller::RequestCaller;
use super::connection::Connection;
use super::question_clock::QuestionClock;
use super::requests::{Requests, Ticket};
use crate::run_end::RunEnd;

/// The requests of a conversation, locked.
pub(super) type LockedRequests<'s> = MutexGuard<'s, Requests<dyn RequestCaller>>;

/// The state that the threads that call the hook share with the thread that reads its output.
pub(super) struct Shared {
    requests: Mutex<Requests<dyn RequestCaller>>,
    /// Set before anything is sent.
    pub(super) connection: OnceLock<Box<dyn Connection>>,
    pub(super) clock: Arc<QuestionClock>,
}

impl Shared {
    pub(super) fn new(clock: Arc<QuestionClock>) -> Self {
        Self { requests: Mutex::new(Requests::new()), connection: OnceLock::new(), clock }
    }

    pub(super) fn requests(&self) -> LockedRequests<'_> {
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

    /// Wakes the thread that waits with this ticket.
    pub(super) fn wake(&self, ticket: &Ticket) {
        // With the lock, the thread is either before its check or waiting.
        let _requests = self.requests();
        ticket.changes.notify_all();
    }

    /// Ends the conversation because of what the hook did.
    pub(super) fn fail(&self, why: String) {
        self.requests().end(RunEnd::Unknown, why);
        self.kill();
    }
}

/// Waits with a ticket until something changes for its request, for at most `timeout`.
pub(super) fn wait<'s>(
    requests: LockedRequests<'s>,
    ticket: &Ticket,
    timeout: Option<Duration>,
) -> LockedRequests<'s> {
    match timeout {
        Some(timeout) => {
            let waited = ticket.changes.wait_timeout(requests, timeout);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
        None => ticket.changes.wait(requests).unwrap_or_else(PoisonError::into_inner),
    }
}
