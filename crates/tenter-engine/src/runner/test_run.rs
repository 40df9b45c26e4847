//! One hook run once, outside of an agent's life: for authors who try a hook. There is no order and no fold, and no
//! observer is told.

use std::time::Duration;

use tenter_proc::{Cancel, Captured};
use tenter_protocol::Reply;

use super::{Request, ask};
use crate::hook::Hook;
use crate::settings::EngineSettings;

/// What came of a hook that was run once.
#[derive(Debug)]
pub struct TestRun {
    /// Its reply, or what went wrong, in words.
    pub answer: Result<Reply, String>,
    /// What of its answer was not understood.
    pub warnings: Vec<String>,
    /// What it wanted recorded.
    pub notes: Vec<String>,
    /// How its process ended, in words: `exit 0`, `signal 9`, `timed out` …
    pub exit: String,
    /// How long it took.
    pub duration: Duration,
    /// What it wrote to stdout.
    pub stdout: Captured,
    /// What it wrote to stderr.
    pub stderr: Captured,
}

/// Runs `hook` as an agent would: same program, same folder, same environment, same limits, same reading of its answer.
pub fn test_run(
    hook: &Hook,
    request: Request,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> TestRun {
    let report = ask(hook, request, settings, cancel);
    TestRun {
        answer: report.answer.map_err(|failure| failure.to_string()),
        warnings: report.warnings,
        notes: report.notes,
        exit: report.exit,
        duration: report.duration,
        stdout: report.stdout,
        stderr: report.stderr,
    }
}
