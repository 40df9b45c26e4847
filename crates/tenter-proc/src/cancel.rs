//! A cancellation flag that can be polled together with pipes.
//!
//! It only says *that* work is to end; the caller knows why.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::os::Latch;

/// How often a flag without a latch is polled.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A cancellation flag, shared by its clones. Once set, it stays set.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug)]
struct Flag {
    is_set: AtomicBool,
    /// Makes the flag pollable. Missing if the process ran out of file descriptors.
    latch: Option<Latch>,
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::with(Latch::new().ok())
    }

    fn with(latch: Option<Latch>) -> Self {
        Self(Arc::new(Flag { is_set: AtomicBool::new(false), latch }))
    }

    /// Sets the flag. Calling it again has no effect.
    pub fn cancel(&self) {
        if !self.0.is_set.swap(true, Ordering::SeqCst)
            && let Some(latch) = &self.0.latch
        {
            latch.set();
        }
    }

    /// Whether the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// Waits until the flag is set, for at most `timeout`. Returns whether it is set.
    pub fn wait(&self, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        while !self.is_cancelled() && !deadline.passed() {
            match &self.0.latch {
                Some(latch) => latch.wait(deadline.left()),
                None => thread::sleep(
                    deadline.left().map_or(POLL_INTERVAL, |left| left.min(POLL_INTERVAL)),
                ),
            }
        }
        self.is_cancelled()
    }

    /// A latch that becomes, and stays, readable once the flag is set.
    pub(crate) fn latch(&self) -> Option<&Latch> {
        self.0.latch.as_ref()
    }

    /// A flag as it is when the process has run out of file descriptors.
    #[cfg(test)]
    pub(crate) fn without_latch() -> Self {
        Self::with(None)
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_kinds() -> [Cancel; 2] {
        [Cancel::new(), Cancel::without_latch()]
    }

    #[test]
    fn clones_share_the_flag_and_it_stays_set() {
        for cancel in both_kinds() {
            let clone = cancel.clone();
            assert!(!clone.is_cancelled() && !clone.wait(Duration::ZERO));
            cancel.cancel();
            cancel.cancel();
            assert!(clone.is_cancelled());
            assert!(clone.wait(Duration::MAX) && clone.wait(Duration::MAX), "it stays set");
        }
    }

    #[test]
    fn a_wait_ends_when_another_thread_cancels() {
        for cancel in both_kinds() {
            let clone = cancel.clone();
            let waiter = thread::spawn(move || clone.wait(Duration::MAX));
            cancel.cancel();
            assert!(waiter.join().unwrap());
        }
    }

    #[test]
    fn a_wait_without_a_cancel_times_out() {
        for cancel in both_kinds() {
            assert!(!cancel.wait(Duration::from_millis(20)));
        }
    }
}
