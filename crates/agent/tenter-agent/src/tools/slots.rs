//! Limits how many tool calls run at once, over all conversations of an agent (R79).

use std::sync::{Condvar, Mutex, PoisonError};

use tenter_base::lock;

/// Maximum number of tool calls that run at once.
pub(crate) const MAX_CALLS_AT_ONCE: usize = 16;

/// A counting semaphore.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A slot in use; dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct Slot<'s>(&'s Slots);

impl Slots {
    /// Waits for a free slot and takes it.
    pub(crate) fn take(&self) -> Slot<'_> {
        let free = self.freed.wait_while(lock(&self.free), |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Slot(self)
    }
}

impl Default for Slots {
    fn default() -> Self {
        Self { free: Mutex::new(MAX_CALLS_AT_ONCE), freed: Condvar::new() }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}
