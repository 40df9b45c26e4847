//! The result of running a program. It always includes the output so far.

use std::io;
use std::time::Duration;

use crate::CapturedOutput;

/// The result of running a program.
#[derive(Debug)]
pub struct Completion {
    /// The end of the program.
    pub end: ProcessEnd,
    /// Its stdout, or both streams if they are merged.
    pub stdout: CapturedOutput,
    /// Its stderr; empty if the streams are merged.
    pub stderr: CapturedOutput,
    /// Time from start to end.
    pub duration: Duration,
    /// True if a descendant still held the pipes open when the result was taken.
    pub pipes_held: bool,
}

/// The end of a program.
#[derive(Debug)]
pub enum ProcessEnd {
    /// The program exited with this code.
    Exited(i32),
    /// The program was ended by a signal that this crate did not send.
    Signalled(i32),
    /// The program was ended at its timeout.
    TimedOut,
    /// The program was ended because of a [`Cancel`](crate::Cancel).
    Cancelled,
    /// The program could not be started, or its exit status was lost. The error says which, and what to do.
    NotStarted(io::Error),
}

impl ProcessEnd {
    /// Returns true if the program exited with code 0.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

/// The reason for which the supervisor ended a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Termination {
    Deadline,
    Cancel,
}

impl From<Termination> for ProcessEnd {
    fn from(stop: Termination) -> Self {
        match stop {
            Termination::Deadline => Self::TimedOut,
            Termination::Cancel => Self::Cancelled,
        }
    }
}
