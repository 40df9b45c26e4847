//! The data shared by all connections of a server.

use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::RecordedRequest;
use crate::exchange::Verdict;
use crate::http::Request;
use crate::strict::{StrictPlayer, StrictScript};

/// The data shared by all connections of a server.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    pub(super) closing: AtomicBool,
}

/// The mutable state of a server.
#[derive(Debug)]
pub(super) struct State {
    pub(super) player: StrictPlayer,
    pub(super) requests: Vec<RecordedRequest>,
    /// Number of clients that closed the connection before the end of their reply.
    pub(super) hang_ups: usize,
}

impl Shared {
    pub(super) fn new(script: StrictScript) -> Self {
        let player = StrictPlayer::new(script);
        let state = State { player, requests: Vec::new(), hang_ups: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new(), closing: AtomicBool::new(false) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `ready`. Returns false if `limit` has passed.
    pub(super) fn wait_until(&self, limit: Duration, ready: impl Fn(&State) -> bool) -> bool {
        let (_state, wait) = self
            .changed
            .wait_timeout_while(self.state(), limit, |state| !ready(state))
            .unwrap_or_else(PoisonError::into_inner);
        !wait.timed_out()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Records a request and selects its response.
    pub(super) fn judge(&self, request: &Request, body: &Value) -> Verdict {
        let mut state = self.state();
        let State { player, requests, .. } = &mut *state;
        let verdict = player.judge(request, body, requests);
        drop(state);
        self.changed.notify_all();
        verdict
    }
}
