//! The data shared by all connections of a server.

use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::exchange::Evidence;
use crate::http::HttpRequest;
use crate::player::{Player, Response};

/// The data shared by all connections of a server.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<PlayedState>,
    changes: Condvar,
    pub(super) closing: AtomicBool,
}

/// The mutable state of a server.
#[derive(Debug)]
pub(super) struct PlayedState {
    pub(super) player: Box<dyn Player>,
    pub(super) evidence: Evidence,
}

impl Shared {
    pub(super) fn new(player: Box<dyn Player>) -> Self {
        let state = PlayedState { player, evidence: Evidence::default() };
        Self { state: Mutex::new(state), changes: Condvar::new(), closing: AtomicBool::new(false) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, PlayedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `ready`. Returns false if `limit` has passed.
    pub(super) fn wait_until(&self, limit: Duration, ready: impl Fn(&Evidence) -> bool) -> bool {
        let (_state, wait) = self
            .changes
            .wait_timeout_while(self.state(), limit, |state| !ready(&state.evidence))
            .unwrap_or_else(PoisonError::into_inner);
        !wait.timed_out()
    }

    pub(super) fn note(&self, change: impl FnOnce(&mut Evidence)) {
        change(&mut self.state().evidence);
        self.changes.notify_all();
    }

    /// Records a request and selects its response.
    pub(super) fn respond(&self, request: &HttpRequest, body: &Value) -> Response {
        let mut state = self.state();
        let PlayedState { player, evidence } = &mut *state;
        let response = player.respond(request, body, evidence);
        drop(state);
        self.changes.notify_all();
        response
    }
}
