//! What came of a program: always with the output so far.

use std::io;
use std::time::Duration;

use crate::Captured;

/// What came of a program.
#[derive(Debug)]
pub struct Completion {
    /// How it ended.
    pub end: End,
    /// What it wrote to stdout; to both streams where they were merged.
    pub stdout: Captured,
    /// What it wrote to stderr.
    pub stderr: Captured,
    /// From start to end.
    pub duration: Duration,
    /// Whether some descendant still held the pipes when the result was taken.
    pub pipes_held: bool,
}

/// How a program ended.
#[derive(Debug)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that did not come from us.
    Signalled(i32),
    /// By us, at its deadline.
    TimedOut,
    /// By us, because the work was cancelled.
    Cancelled,
    /// It never ran, or how it ended cannot be learnt. The error says which, what it is about, and what to do.
    NotStarted(io::Error),
}

impl End {
    /// Whether the program ended by itself with code 0.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

/// Why we ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Deadline,
    Cancel,
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Deadline => Self::TimedOut,
            Stop::Cancel => Self::Cancelled,
        }
    }
}
