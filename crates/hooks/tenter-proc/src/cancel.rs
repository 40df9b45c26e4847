//! A cancellation flag that can be polled together with pipes.
//!
//! It only says *that* work is to end; the caller knows why.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use std::{fmt, thread};

use crate::deadline::Deadline;
use crate::os::Latch;

/// The interval at which a flag without a latch is polled.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

type Handlers = Vec<(u64, Arc<dyn Fn() + Send + Sync>)>;

/// A cancellation flag, shared by its clones. Once set, it stays set.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<Flag>);

struct Flag {
    is_set: AtomicBool,
    /// Makes the flag pollable, from the first time on that it is polled. Missing if the process ran out of file descriptors.
    latch: OnceLock<Option<Latch>>,
    /// The handlers that are called when it is set, by their numbers.
    handlers: Mutex<Handlers>,
}

impl fmt::Debug for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flag").field("is_set", &self.is_set).finish_non_exhaustive()
    }
}

/// Calls a function when a [`Cancel`] is set, until this is dropped.
pub struct CancelHandler {
    flag: Arc<Flag>,
    number: u64,
}

impl Drop for CancelHandler {
    fn drop(&mut self) {
        self.flag.handlers().retain(|(number, _)| *number != self.number);
    }
}

impl Flag {
    fn handlers(&self) -> MutexGuard<'_, Handlers> {
        self.handlers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cancel {
    /// Creates a flag that is not set.
    pub fn new() -> Self {
        Self::with(OnceLock::new())
    }

    fn with(latch: OnceLock<Option<Latch>>) -> Self {
        let handlers = Mutex::default();
        Self(Arc::new(Flag { is_set: AtomicBool::new(false), latch, handlers }))
    }

    /// Sets the flag. Calling it again has no effect.
    pub fn cancel(&self) {
        if self.0.is_set.swap(true, Ordering::SeqCst) {
            return;
        }
        // A latch that is not made yet when the lock is taken is set by the thread that makes it.
        let handlers = self.0.handlers().clone();
        if let Some(Some(latch)) = self.0.latch.get() {
            latch.set();
        }
        for (_, handler) in handlers {
            handler();
        }
    }

    /// Calls `handler` once the flag is set: at once if it is, otherwise on the thread that sets it. The handler must not wait.
    #[must_use]
    pub fn on_cancel(&self, handler: impl Fn() + Send + Sync + 'static) -> CancelHandler {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let handler: Arc<dyn Fn() + Send + Sync> = Arc::new(handler);
        self.0.handlers().push((number, Arc::clone(&handler)));
        // Set meanwhile, it may be called twice.
        if self.is_cancelled() {
            handler();
        }
        CancelHandler { flag: Arc::clone(&self.0), number }
    }

    /// Returns true if the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// Waits until the flag is set, for at most `timeout`. Returns whether it is set.
    pub fn wait(&self, timeout: Duration) -> bool {
        let deadline = Deadline::after(timeout);
        while !self.is_cancelled() && !deadline.passed() {
            match self.latch() {
                Some(latch) => latch.wait(deadline.left()),
                None => thread::sleep(
                    deadline.left().map_or(POLL_INTERVAL, |rest| rest.min(POLL_INTERVAL)),
                ),
            }
        }
        self.is_cancelled()
    }

    /// Returns a latch that becomes, and stays, readable once the flag is set.
    pub(crate) fn latch(&self) -> Option<&Latch> {
        let mut is_new = false;
        let make = || {
            is_new = true;
            Latch::new().ok()
        };
        let latch = self.0.latch.get_or_init(make).as_ref()?;
        if is_new {
            // After the lock, the flag is set already, or the thread that sets it knows the latch.
            drop(self.0.handlers());
            if self.is_cancelled() {
                latch.set();
            }
        }
        Some(latch)
    }

    /// Returns a flag as it is when the process has run out of file descriptors.
    #[cfg(test)]
    pub(crate) fn without_latch() -> Self {
        Self::with(OnceLock::from(None))
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
    fn handlers_are_called_until_they_are_dropped() {
        let (cancel, count) = (Cancel::new(), Arc::new(AtomicU64::new(0)));
        let counting = || {
            let count = Arc::clone(&count);
            cancel.on_cancel(move || {
                count.fetch_add(1, Ordering::SeqCst);
            })
        };
        let (alive, dropped_entries) = (counting(), counting());
        drop(dropped_entries);
        cancel.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        let late = counting();
        assert_eq!(
            count.load(Ordering::SeqCst),
            2,
            "a handler that comes too late is called at once"
        );
        drop((alive, late));
    }

    #[test]
    fn a_wait_without_a_cancel_times_out() {
        for cancel in both_kinds() {
            assert!(!cancel.wait(Duration::from_millis(20)));
        }
    }
}
