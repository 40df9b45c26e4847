//! One process of a client: its output goes to a file, and nothing that it started survives it.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use tenter_base::{excerpt, untrusted_file};
use tenter_proc::{Cancel, Invocation, ProcessEnd, start_background};

/// Maximum time without a request to the model: on a busy machine, everything takes longer.
const SILENCE: Duration = Duration::from_secs(100);
/// Maximum size of a client's output, in bytes.
const MAX_OUTPUT: u64 = 32 << 20;
/// Time after the end of a client for hooks in the background, which it does not wait for.
const SETTLING: Duration = Duration::from_millis(800);
/// Time from SIGTERM to SIGKILL for what a client leaves behind.
pub(crate) const GRACE: Duration = Duration::from_millis(200);
/// Time between two checks whether a client has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// Number of lines of its output that are shown.
const LINES: usize = 5;

/// A process of a client that is over.
#[derive(Debug, Clone)]
pub(crate) struct FinishedProcess {
    /// The reason why it did not end as it should; `None` if it did.
    pub(crate) failure: Option<String>,
    /// Its output, of which the end may be missing.
    pub(crate) output: String,
}

impl FinishedProcess {
    /// Returns the last lines of the output as one line.
    pub(crate) fn last_lines(&self) -> String {
        let lines = excerpt::tail(excerpt::last_lines(&self.output, LINES), 2000);
        excerpt::one_line(&lines, 400)
    }
}

/// Runs a process of a client until it ends, at most for the time `patience`, and ends everything that it left behind. `has_asked`
/// tells whether its model got more than a number of requests so far.
pub(crate) fn run(
    invocation: &Invocation,
    log: &Path,
    (patience, cancel): (Duration, &Cancel),
    has_asked: &dyn Fn(usize) -> bool,
) -> FinishedProcess {
    let failure = match end_of(invocation, log, (patience, cancel), has_asked) {
        Ok(None) if size(log) > MAX_OUTPUT => {
            Some(format!("the agent wrote more than {} MiB", MAX_OUTPUT >> 20))
        }
        Ok(None) => Some(format!(
            "the agent did not end within {} s, or sent no request for {} s",
            patience.as_secs(),
            SILENCE.as_secs()
        )),
        Ok(Some(ProcessEnd::Exited(0))) => None,
        Ok(Some(ProcessEnd::Exited(code))) => Some(format!("the agent exited with code {code}")),
        Ok(Some(ProcessEnd::Signalled(signal))) => {
            Some(format!("the agent was ended by signal {signal}"))
        }
        Ok(Some(end)) => Some(format!("the agent ended unexpectedly: {end:?}")),
        Err(error) => Some(format!("the agent did not start: {error}")),
    };
    let output = untrusted_file::read_prefix(log, MAX_OUTPUT).unwrap_or_default();
    let output = String::from_utf8_lossy(&output).trim_end().to_owned();
    FinishedProcess { failure, output }
}

/// Runs a process; returns `None` if it had to be ended.
fn end_of(
    invocation: &Invocation,
    log: &Path,
    (patience, cancel): (Duration, &Cancel),
    has_asked: &dyn Fn(usize) -> bool,
) -> io::Result<Option<ProcessEnd>> {
    let program = start_background(invocation, log)?;
    let start = Instant::now();
    let (mut requests, mut heard) = (0, start);
    let waits = |heard: Instant| start.elapsed() < patience && heard.elapsed() < SILENCE;
    while program.is_running() && waits(heard) && size(log) <= MAX_OUTPUT {
        if cancel.wait(PAUSE) {
            break;
        }
        if has_asked(requests) {
            (requests, heard) = (requests + 1, Instant::now());
        }
    }
    let has_ended = !program.is_running();
    if has_ended {
        cancel.wait(SETTLING);
    }
    let end = program.end();
    Ok(has_ended.then_some(end))
}

/// Returns the size of a file; 0 if there is none.
fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}
