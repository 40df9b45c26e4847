//! Hooks that nobody waits for (R22): each on a thread of its own, told to the observers when it is done. It decides nothing
//! any more, but what a later turn can use is kept. At the end of a session they are waited for, but not for ever.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tenter_proc::Cancel;
use tenter_protocol::{Event, Reply};

use super::late::{LateReplies, LateReply};
use super::report::RunReport;
use crate::hook::Hook;
use crate::observe::DecisionKind;
use crate::runner::{self, Aimed, Failure, Occasion};
use crate::settings::EngineSettings;

/// How long hooks that were ended are waited for. None takes longer than its grace, or than what is waited for one that cannot
/// be ended; the rest is for a busy machine, on which their failures would else be told to nobody.
const ENDING: Duration = Duration::from_secs(10);

/// The hooks that run unawaited.
#[derive(Default)]
pub(super) struct BackgroundHooks {
    running: Arc<Running>,
    late: Arc<LateReplies>,
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

impl BackgroundHooks {
    /// Starts a hook and returns at once.
    pub(super) fn start(
        &self,
        settings: &Arc<EngineSettings>,
        hook: Arc<Hook>,
        event: Event,
        aimed: Aimed,
    ) {
        let subscription = aimed.subscription;
        let (settings, late, cancel) =
            (Arc::clone(settings), Arc::clone(&self.late), self.cancel.clone());
        self.running.add(1);
        let counted = Counted(Arc::clone(&self.running));
        let event = Arc::new(event);
        let not_run = (Arc::clone(&settings), Arc::clone(&hook), Arc::clone(&event));
        let started = thread::Builder::new().name(format!("hook {}", hook.name)).spawn(move || {
            let _counted = counted;
            let mut report = RunReport::begin(&settings, &hook, &event, subscription);
            let occasion = Occasion { event: &event, aimed };
            let output = runner::run(&hook, occasion, &settings, &cancel);
            match report.ran(output) {
                Ok(reply) => keep(&late, &event, reply, report),
                Err(Failure::Cancelled) => report.failed(&Failure::Drained),
                Err(failure) => report.failed(&failure),
            }
        });
        if let Err(error) = started {
            // Dropping the closure took it off the count.
            let (settings, hook, event) = not_run;
            let failure = Failure::NotStarted(format!("no thread could be had for it: {error}"));
            RunReport::begin(&settings, &hook, &event, subscription).not_started(&failure);
        }
    }

    /// What the hooks asked for that can still be done.
    pub(super) fn late(&self) -> &LateReplies {
        &self.late
    }

    /// Waits for all, at most for `patience`; then ends those that still run.
    pub(super) fn drain(&self, patience: Duration) {
        if !self.running.none(patience) {
            self.cancel.cancel();
            self.running.none(ENDING);
        }
    }
}

/// Keeps what a later turn can use of an answer. The observers are told first: nobody acts on what none has heard of.
fn keep(late: &LateReplies, event: &Event, mut reply: Reply, mut report: RunReport) {
    let kept = LateReply::take_from(&mut reply, report.hook(), event);
    report.answered_late(kept.as_ref(), DecisionKind::of(&reply));
    let Some(kept) = kept else { return };
    let room = late.room();
    if let Some(dropped) = &room.dropped {
        report.displaced(dropped);
    }
    drop(report);
    room.fill(kept);
}
