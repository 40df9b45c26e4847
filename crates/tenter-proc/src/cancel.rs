//! A switch that ends running work; it can be waited for beside pipes.
//!
//! It says only *that* the work is to end: who threw it and why is for the one who did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::os::Latch;

/// How often a switch is looked at where the system had no pipe left for it.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// A switch that is thrown once and for all its clones, and stays thrown.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<Switch>);

#[derive(Debug)]
struct Switch {
    thrown: AtomicBool,
    /// What a wait for pipes can wait for as well; missing where the system had no descriptor left.
    latch: Option<Latch>,
}

impl Cancel {
    /// A switch that is not thrown.
    pub fn new() -> Self {
        Self::with(Latch::new().ok())
    }

    fn with(latch: Option<Latch>) -> Self {
        Self(Arc::new(Switch { thrown: AtomicBool::new(false), latch }))
    }

    /// Throws it, from any thread. The second time changes nothing.
    pub fn cancel(&self) {
        if !self.0.thrown.swap(true, Ordering::SeqCst)
            && let Some(latch) = &self.0.latch
        {
            latch.set();
        }
    }

    /// Whether it was thrown.
    pub fn is_cancelled(&self) -> bool {
        self.0.thrown.load(Ordering::SeqCst)
    }

    /// Waits until it is thrown, at most for `timeout`; says whether it was.
    pub fn wait(&self, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        while !self.is_cancelled() && !deadline.passed() {
            match &self.0.latch {
                Some(latch) => latch.wait(deadline.left()),
                None => thread::sleep(deadline.left().map_or(LOOK, |left| left.min(LOOK))),
            }
        }
        self.is_cancelled()
    }

    /// What becomes readable, for ever, once the switch is thrown.
    pub(crate) fn latch(&self) -> Option<&Latch> {
        self.0.latch.as_ref()
    }

    /// A switch as it is where the system had no pipe left for it.
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
    fn a_switch_is_thrown_for_all_its_clones_and_stays_thrown() {
        for cancel in both_kinds() {
            let clone = cancel.clone();
            assert!(!clone.is_cancelled() && !clone.wait(Duration::ZERO));
            cancel.cancel();
            cancel.cancel();
            assert!(clone.is_cancelled());
            assert!(clone.wait(Duration::MAX) && clone.wait(Duration::MAX), "it stays thrown");
        }
    }

    #[test]
    fn a_wait_ends_when_another_thread_throws_the_switch() {
        for cancel in both_kinds() {
            let clone = cancel.clone();
            let waiter = thread::spawn(move || clone.wait(Duration::MAX));
            cancel.cancel();
            assert!(waiter.join().unwrap());
        }
    }

    #[test]
    fn a_wait_for_a_switch_nobody_throws_ends_at_its_timeout() {
        for cancel in both_kinds() {
            assert!(!cancel.wait(Duration::from_millis(20)));
        }
    }
}
