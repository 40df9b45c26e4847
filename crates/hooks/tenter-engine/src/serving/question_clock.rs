//! The time of hooks stands still while one of them waits for the user's answer (S7).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The interval at which a waiting thread checks whether the time still stands still.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The time that the user has been asked, by all hooks of an engine together.
#[derive(Debug, Default)]
pub(crate) struct QuestionClock {
    state: Mutex<QuestionTimes>,
    /// Held while a question is asked: they come one after another.
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct QuestionTimes {
    /// Number of hooks that wait for an answer, and since when there is one.
    waiting: usize,
    since: Option<Instant>,
    before: Duration,
}

/// Makes the time stand still until this is dropped.
pub(crate) struct Question<'c>(&'c QuestionClock);

impl QuestionClock {
    /// Returns the time that has been spent on questions, including those that are being asked.
    pub(crate) fn asked(&self) -> Duration {
        let questions = self.get();
        questions.before + questions.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns whether a question is being asked.
    pub(super) fn is_stopped(&self) -> bool {
        self.get().since.is_some()
    }

    /// Stops the clock until the question is dropped.
    pub(crate) fn begin(&self) -> Question<'_> {
        let mut questions = self.get();
        questions.waiting += 1;
        questions.since.get_or_insert_with(Instant::now);
        Question(self)
    }

    /// Waits for the turn to ask.
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self) -> MutexGuard<'_, QuestionTimes> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut questions = self.0.get();
        questions.waiting -= 1;
        if questions.waiting == 0 {
            let since = questions.since.take();
            questions.before += since.map_or(Duration::ZERO, |since| since.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_once_while_several_hooks_ask() {
        let clock = QuestionClock::default();
        assert!(!clock.is_stopped() && clock.asked().is_zero());
        let (first, second) = (clock.begin(), clock.begin());
        clock.get().since = Instant::now().checked_sub(Duration::from_millis(20));
        drop(first);
        assert!(clock.is_stopped());
        drop(second);
        let total = clock.asked();
        assert!(!clock.is_stopped() && total >= Duration::from_millis(20));
        assert_eq!(clock.asked(), total);
    }
}
