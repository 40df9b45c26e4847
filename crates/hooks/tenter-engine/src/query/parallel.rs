//! Processes items in parallel with a limited number of threads, keeping their order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Applies `work` to every item, on at most `threads` threads including the calling one.
pub(crate) fn map<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            // If a thread cannot be started this is slower, but not wrong: the calling thread works too.
            drop(thread::Builder::new().spawn_scoped(scope, worker));
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(
            map(&items, 8, |item| item * 2),
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        assert!(map(&[] as &[usize], 8, |item| *item).is_empty());
    }

    #[test]
    fn as_many_items_as_threads_are_processed_at_once() {
        let all_there = Barrier::new(4);
        assert_eq!(
            map(&[1, 2, 3, 4], 4, |_| all_there.wait().is_leader())
                .into_iter()
                .filter(|leader| *leader)
                .count(),
            1
        );
    }
}
