//! Runs one hook for one event: a payload in, a reply or a failure out. Knows no order and decides nothing.

mod executable;

use std::time::Duration;

use tenter_proc::Cancel;
use tenter_protocol::executable::ReplyError;
use tenter_protocol::{Event, Reply};
use thiserror::Error;

use crate::dispatch::EngineSettings;
use crate::hook::Hook;
use crate::trust::Changed;

/// What came of one run.
pub(crate) struct Report {
    /// The reply, or why there is none.
    pub(crate) answer: Result<Reply, Failure>,
    /// How the process ended, in words.
    pub(crate) exit: String,
    /// How long it took.
    pub(crate) duration: Duration,
    /// The last lines of stderr.
    pub(crate) stderr_tail: String,
}

/// Why a run gave no reply (R42).
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("{0}; it is not run as it is: look at it and run `tenter trust`")]
    Changed(#[from] Changed),
    #[error("it could not be started: {0}")]
    NotStarted(String),
    #[error("timed out after {}", seconds(*.0))]
    TimedOut(Duration),
    #[error("it was ended because the agent was interrupted")]
    Cancelled,
    #[error("it exited with code {0}")]
    Exit(i32),
    #[error("it was ended by signal {0}")]
    Signal(i32),
    #[error("it wrote {0} bytes to stdout; an answer may have 1 MiB")]
    TooLong(u64),
    #[error("{0}")]
    Reply(#[from] ReplyError),
    #[error("its rewrite cannot be used: {0}")]
    Rewrite(String),
    #[error("the event {0} has no payload for executables")]
    NoPayload(&'static str),
}

fn seconds(duration: Duration) -> String {
    if duration.subsec_millis() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}

/// Runs `hook` for `event`.
pub(crate) fn run(
    hook: &Hook,
    event: &Event,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> Report {
    executable::run(hook, event, settings, cancel)
}
