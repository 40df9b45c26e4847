//! One process of a client: its output goes to a file, and nothing that it started survives it.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use tenter_base::{excerpt, untrusted_file};
use tenter_proc::{Cancel, Invocation, ProcessEnd, start_background};

/// How long a client may run without a request to its model: on a busy machine, everything takes longer.
const SILENCE: Duration = Duration::from_secs(100);
/// Maximum size of a client's output, in bytes.
const MAX_OUTPUT: u64 = 32 << 20;
/// How long what a client does not wait for may still run after it: hooks in the background.
const SETTLING: Duration = Duration::from_millis(800);
/// Time from SIGTERM to SIGKILL for what a client leaves behind.
pub(crate) const GRACE: Duration = Duration::from_millis(200);
/// How often it is checked whether a client has ended.
const PAUSE: Duration = Duration::from_millis(20);
/// Number of lines of its output that are shown.
const LINES: usize = 5;

/// A process that ended.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    /// Why it did not end as it should; `None` if it did.
    pub(crate) failure: Option<String>,
    /// The last lines of its output.
    pub(crate) output: String,
}

/// Runs a process of a client until it ends, at most for the time `patience`, and ends everything that it left behind. `has_asked`
/// tells whether its model got more than a number of requests so far.
pub(crate) fn run(
    invocation: &Invocation,
    log: &Path,
    (patience, cancel): (Duration, &Cancel),
    has_asked: &dyn Fn(usize) -> bool,
) -> Ended {
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
    let output = String::from_utf8_lossy(&output);
    let output = excerpt::last_lines(output.trim_end(), LINES);
    Ended { failure, output: excerpt::tail(output, 2000).into_owned() }
}

/// How a process ended; `None` if it had to be ended.
fn end_of(
    invocation: &Invocation,
    log: &Path,
    (patience, cancel): (Duration, &Cancel),
    has_asked: &dyn Fn(usize) -> bool,
) -> io::Result<Option<ProcessEnd>> {
    let program = start_background(invocation, log)?;
    let started = Instant::now();
    let (mut requests, mut heard) = (0, started);
    let waits = |heard: Instant| started.elapsed() < patience && heard.elapsed() < SILENCE;
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

/// The size of a file; 0 if there is none.
fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |found| found.len())
}
