//! The reasons why a hook run gave no reply (R42).

use std::time::Duration;

use thiserror::Error;

use crate::matcher::MatcherError;
use crate::trust::Changed;

/// The reason why a run gave no reply.
#[derive(Debug, Error)]
pub(crate) enum RunFailure {
    #[error("{0}")]
    Changed(#[from] Changed),
    #[error("it does not run: it {0}")]
    Missing(String),
    #[error("it could not be started: {0}")]
    NotStarted(String),
    #[error("timed out after {}", seconds(*.0))]
    TimedOut(Duration),
    #[error("it was stopped at the deadline of the event, before its timeout of {}", seconds(*.0))]
    Deadline(Duration),
    #[error("it was not started: the deadline of the event had passed")]
    TooLate,
    #[error("it was killed because the agent was interrupted")]
    Cancelled,
    #[error("it is asynchronous and was killed because it still ran when the session ended")]
    Drained,
    #[error("it is behind HTTP, and the program `tenter`, which sends its payloads, was not found")]
    NoHttpClient,
    #[error("{0}")]
    Http(String),
    #[error("it exited with code {0}")]
    Exit(i32),
    #[error("it was terminated by signal {0}")]
    Signal(i32),
    #[error("it wrote {0} bytes to stdout; the limit is 1 MiB")]
    TooLong(u64),
    #[error("its process {0}")]
    Process(String),
    #[error("{0}")]
    Reply(String),
    #[error("its rewrite cannot be used: {0}")]
    Rewrite(String),
    #[error("its callback cannot start: {0}")]
    Callback(String),
    #[error("the event {0} has no payload for executables")]
    NoPayload(&'static str),
    #[error("{0}")]
    Matcher(#[from] MatcherError),
}

impl RunFailure {
    /// Returns whether the failure denies even if the hook fails open: the hook is not the one that was trusted (R75), or the failure
    /// should be impossible.
    pub(crate) fn denies_always(&self) -> bool {
        match self {
            Self::Changed(Changed::Content | Changed::Unreadable(_) | Changed::WhileRunning)
            | Self::NoPayload(_) => true,
            Self::Changed(Changed::Shared(_))
            | Self::Missing(_)
            | Self::NotStarted(_)
            | Self::TimedOut(_)
            | Self::Deadline(_)
            | Self::TooLate
            | Self::Cancelled
            | Self::Drained
            | Self::NoHttpClient
            | Self::Http(_)
            | Self::Exit(_)
            | Self::Signal(_)
            | Self::TooLong(_)
            | Self::Process(_)
            | Self::Reply(_)
            | Self::Rewrite(_)
            | Self::Callback(_)
            | Self::Matcher(_) => false,
        }
    }
}

/// Returns a duration in words: `30 s`, or `1500 ms` if it is not a whole number of seconds.
fn seconds(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}
