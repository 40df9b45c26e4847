//! Locks that a panic does not close.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock, also after a panic of a thread that held it: for data that no panic leaves inconsistent.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
