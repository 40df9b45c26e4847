//! Runs one hook for one event: a payload in, a reply or a failure out. Knows no order and decides nothing.

mod executable;
mod trial;

use std::time::Duration;

use tenter_proc::{Cancel, Captured};
use tenter_protocol::executable::{ReplyError, Subscription};
use tenter_protocol::{Event, Reply};
use thiserror::Error;

use crate::dispatch::EngineSettings;
use crate::hook::Hook;
use crate::trust::Changed;

pub use trial::{Trial, run_once};

/// Lines of stderr that a record keeps.
const STDERR_LINES: usize = 20;

/// What one hook is to be told, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The event, in the hook's words.
    pub subscription: Subscription,
    /// The conversation that it is of: the run's `TENTER_SESSION_ID`.
    pub session_id: String,
    /// What the hook reads.
    pub payload: String,
}

/// What came of one run.
pub(crate) struct Report {
    /// The reply, or why there is none.
    pub(crate) answer: Result<Reply, Failure>,
    /// How the process ended, in words.
    pub(crate) exit: String,
    /// How long it took.
    pub(crate) duration: Duration,
    /// What it wrote to stdout.
    pub(crate) stdout: Captured,
    /// What it wrote to stderr.
    pub(crate) stderr: Captured,
}

impl Report {
    fn not_started(failure: Failure) -> Self {
        Self {
            answer: Err(failure),
            exit: "not started".to_owned(),
            duration: Duration::ZERO,
            stdout: Captured::default(),
            stderr: Captured::default(),
        }
    }

    /// The last lines of stderr: what a record keeps of it.
    pub(crate) fn stderr_tail(&self) -> String {
        self.stderr.tail_lines(STDERR_LINES)
    }
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
