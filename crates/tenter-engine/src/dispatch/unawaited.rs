//! Hooks that nobody waits for (R22): each on a thread of its own, told to the observers when it is done, its decision
//! counting for nothing. At the end of a session they are waited for, but not for ever.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tenter_proc::Cancel;
use tenter_protocol::Event;

use super::telling::Told;
use crate::hook::Hook;
use crate::observe::DecisionKind;
use crate::runner::{self, Failure, Found};
use crate::settings::EngineSettings;

/// How long hooks that were ended are waited for: their grace, and a little more.
const ENDING: Duration = Duration::from_secs(2);

/// The hooks that run unawaited.
#[derive(Default)]
pub(super) struct Unawaited {
    running: Arc<Running>,
    cancel: Cancel,
}

#[derive(Default)]
struct Running {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Running {
    fn add(&self, change: isize) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add_signed(change);
        self.changed.notify_all();
    }

    /// Waits until none runs, at most for `patience`; says whether that is so.
    fn none(&self, patience: Duration) -> bool {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(count, patience, |count| *count > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }
}

/// Counts a run for as long as it lasts, however it ends.
struct Counted(Arc<Running>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.add(-1);
    }
}

impl Unawaited {
    /// Starts a hook and returns at once.
    pub(super) fn start(
        &self,
        settings: &Arc<EngineSettings>,
        hook: Arc<Hook>,
        event: Event,
        found: Found,
    ) {
        let (settings, cancel) = (Arc::clone(settings), self.cancel.clone());
        self.running.add(1);
        let counted = Counted(Arc::clone(&self.running));
        // Without a thread to be had the hook is not run, and dropping the closure takes it off the count.
        drop(thread::Builder::new().name(format!("hook {}", hook.name)).spawn(move || {
            let _counted = counted;
            run(&settings, &hook, &event, found, &cancel);
        }));
    }

    /// Waits for all, at most for `patience`; then ends those that still run.
    pub(super) fn drain(&self, patience: Duration) {
        if !self.running.none(patience) {
            self.cancel.cancel();
            self.running.none(ENDING);
        }
    }
}

fn run(settings: &EngineSettings, hook: &Hook, event: &Event, found: Found, cancel: &Cancel) {
    let Some(mut told) = Told::begin(settings, hook, event) else { return };
    let report = runner::run(hook, event, found, settings, cancel);
    told.ran(&report);
    match &report.answer {
        Ok(reply) => told.answered_in_vain(DecisionKind::of(reply)),
        Err(Failure::Cancelled) => told.failed(&Failure::Drained),
        Err(failure) => told.failed(failure),
    }
}
