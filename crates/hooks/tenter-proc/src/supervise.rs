//! Supervises one program until it ends: a state machine without system calls.
//!
//! It decides *when* a program is terminated, killed and given up; the module `os` moves bytes and sends signals.

use std::io;
use std::ops::ControlFlow::{self, Break, Continue};
use std::time::{Duration, Instant};

use crate::completion::Termination;
use crate::deadline::Deadline;
use crate::os::Process;
use crate::{Cancel, CapturedOutput, Completion, Invocation, ProcessEnd};

/// Maximum wait for a killed program: a program of another user cannot be killed, and one blocked in the kernel does not
/// die.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time for which the start of a program is retried while its file is open for writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs a program until it ends and returns the result with the output so far, whatever happens (R37, R38, R39).
///
/// Blocks the calling thread, which does all the work. At the timeout, or when `cancel` is set, the program and its process group
/// receive SIGTERM, and after the grace period SIGKILL; so do processes that left the group, if
/// [orphans are adopted](crate::adopt_orphans). If the program exits while a background child holds its pipes open, the output is
/// read for at most `drain` longer; the child keeps running.
///
/// SIGPIPE must be ignored, which is the default in Rust programs.
pub fn run(invocation: &Invocation, cancel: &Cancel) -> Completion {
    run_watched(invocation, cancel, &|_| ())
}

/// Like [`run`], and also passes the output to `on_output` in pieces, as it comes. The program waits for a slow `on_output` once
/// its pipe is full, and so do its timeout and `cancel`.
pub fn run_watched(
    invocation: &Invocation,
    cancel: &Cancel,
    on_output: &dyn Fn(&[u8]),
) -> Completion {
    let start = Instant::now();
    let deadline = Deadline::after(invocation.limits.timeout);
    if cancel.is_cancelled() {
        return without_output(ProcessEnd::Cancelled, start);
    }
    match start_with_retry(deadline, cancel, || Process::start(invocation)) {
        Ok(process) => Supervisor { process, invocation, cancel, deadline, on_output }.run(start),
        Err(_) if cancel.is_cancelled() => without_output(ProcessEnd::Cancelled, start),
        Err(error) => without_output(ProcessEnd::NotStarted(error), start),
    }
}

/// Starts a program, and retries while its file is busy: a script that was just written stays open for writing in a process that
/// another thread is starting at the same moment, until that process calls exec.
pub(crate) fn start_with_retry<T>(
    deadline: Deadline,
    cancel: &Cancel,
    start: impl Fn() -> io::Result<T>,
) -> io::Result<T> {
    let deadline = deadline.or_sooner(BUSY_TIMEOUT);
    let mut wait = Duration::from_millis(1);
    loop {
        match start() {
            Err(error) if is_busy(&error) && !deadline.passed() && !cancel.wait(wait) => wait *= 2,
            result => return result,
        }
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ExecutableFileBusy
}

fn without_output(end: ProcessEnd, start: Instant) -> Completion {
    let (stdout, stderr) = (CapturedOutput::default(), CapturedOutput::default());
    Completion { end, stdout, stderr, duration: start.elapsed(), pipes_held: false }
}

/// A running program and its limits.
struct Supervisor<'a> {
    process: Process<'a>,
    invocation: &'a Invocation,
    cancel: &'a Cancel,
    deadline: Deadline,
    on_output: &'a dyn Fn(&[u8]),
}

/// The state of a supervised program.
#[derive(Clone, Copy)]
enum Phase {
    Running,
    /// It exited by itself, and a descendant holds its pipes open.
    Lingering {
        until: Deadline,
    },
    /// Its group received SIGTERM.
    Terminating {
        stop: Termination,
        kill: Deadline,
    },
    /// Its group received SIGKILL.
    Killed {
        stop: Termination,
        drain: Deadline,
        give_up: Deadline,
    },
}

impl Supervisor<'_> {
    fn run(mut self, start: Instant) -> Completion {
        let mut phase = Phase::Running;
        loop {
            match self.next(phase) {
                Continue(next) => phase = next,
                Break(stop) => return self.finish(stop, start),
            }
            let may_be_cancelled = matches!(phase, Phase::Running | Phase::Lingering { .. });
            let cancel = may_be_cancelled.then_some(self.cancel);
            self.process.pump(cancel, self.deadline_of(phase).left(), self.on_output);
        }
    }

    /// Returns the next state. An exit takes precedence over a deadline that passed at the same time.
    fn next(&mut self, phase: Phase) -> ControlFlow<Option<Termination>, Phase> {
        let (exited, drained) = (self.process.has_exited(), self.process.is_drained());
        match phase {
            Phase::Running if exited && drained => Break(None),
            Phase::Running if exited => Continue(self.linger()),
            Phase::Running if self.cancel.is_cancelled() => {
                Continue(self.terminate(Termination::Cancel))
            }
            Phase::Running if self.deadline.passed() => {
                Continue(self.terminate(Termination::Deadline))
            }
            Phase::Lingering { until }
                if drained || until.passed() || self.cancel.is_cancelled() =>
            {
                Break(None)
            }
            Phase::Terminating { stop, .. } if exited && drained => Break(Some(stop)),
            Phase::Terminating { stop, kill } if kill.passed() => Continue(self.kill(stop)),
            Phase::Killed { stop, drain, .. } if exited && (drained || drain.passed()) => {
                Break(Some(stop))
            }
            Phase::Killed { stop, give_up, .. } if give_up.passed() => Break(Some(stop)),
            same => Continue(same),
        }
    }

    /// Returns the deadline of the phase.
    fn deadline_of(&self, phase: Phase) -> Deadline {
        match phase {
            Phase::Running => self.deadline,
            Phase::Lingering { until } => until,
            Phase::Terminating { kill, .. } => kill,
            Phase::Killed { drain, .. } if self.process.has_exited() => drain,
            Phase::Killed { give_up, .. } => give_up,
        }
    }

    fn linger(&self) -> Phase {
        Phase::Lingering { until: self.deadline.or_sooner(self.invocation.limits.drain) }
    }

    fn terminate(&mut self, stop: Termination) -> Phase {
        self.process.terminate();
        Phase::Terminating { stop, kill: Deadline::after(self.invocation.limits.grace) }
    }

    fn kill(&mut self, stop: Termination) -> Phase {
        self.process.kill();
        let drain = Deadline::after(self.invocation.limits.drain);
        Phase::Killed { stop, drain, give_up: Deadline::after(KILL_TIMEOUT) }
    }

    fn finish(mut self, stop: Option<Termination>, start: Instant) -> Completion {
        if stop.is_some() {
            // Descendants that closed the pipes may have outlived the program.
            self.process.kill();
        }
        let pipes_held = !self.process.is_drained();
        let (end, stdout, stderr) = self.process.finish();
        let end = stop.map_or(end, ProcessEnd::from);
        Completion { end, stdout, stderr, duration: start.elapsed(), pipes_held }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;
    use std::thread;

    use super::*;
    use crate::Limits;

    fn busy_until(attempt: u32, attempts: &Cell<u32>) -> io::Result<()> {
        attempts.set(attempts.get() + 1);
        if attempts.get() < attempt {
            Err(io::ErrorKind::ExecutableFileBusy.into())
        } else {
            Ok(())
        }
    }

    #[test]
    fn a_busy_program_file_is_retried() {
        let attempts = Cell::new(0);
        let deadline = Deadline::after(Duration::from_mins(1));
        assert!(start_with_retry(deadline, &Cancel::new(), || busy_until(4, &attempts)).is_ok());
        assert_eq!(attempts.get(), 4);
    }

    #[test]
    fn a_program_file_that_stays_busy_is_an_error() {
        let attempts = Cell::new(0);
        let deadline = Deadline::after(Duration::from_mins(1));
        let error = start_with_retry(deadline, &Cancel::new(), || busy_until(u32::MAX, &attempts))
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ExecutableFileBusy);
        assert!(attempts.get() > 1);
    }

    #[test]
    fn a_busy_program_file_is_not_retried_after_the_deadline() {
        let attempts = Cell::new(0);
        let error = start_with_retry(Deadline::after(Duration::ZERO), &Cancel::new(), || {
            busy_until(9, &attempts)
        });
        assert!(error.is_err());
        assert_eq!(attempts.get(), 1);
    }

    #[test]
    fn other_errors_are_not_retried() {
        let attempts = Cell::new(0);
        let start = || -> io::Result<()> {
            attempts.set(attempts.get() + 1);
            Err(io::ErrorKind::NotFound.into())
        };
        assert!(start_with_retry(Deadline::after(Duration::MAX), &Cancel::new(), start).is_err());
        assert_eq!(attempts.get(), 1);
    }

    fn program(name: &str, args: &[&str]) -> Invocation {
        Invocation {
            program: name.into(),
            args: args.iter().map(Into::into).collect(),
            cwd: "/".into(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            limits: Limits { timeout: Duration::MAX, ..Limits::default() },
            ..Invocation::default()
        }
    }

    #[test]
    fn output_is_passed_on_while_the_program_runs() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("seen");
        // It ends only after its first line was seen.
        let line = "echo one; echo two >&2; while [ ! -e \"$0\" ]; do sleep 0.01; done; echo three";
        let invocation = program("/bin/sh", &["-c", line, file.to_str().unwrap()]);
        let output = Mutex::new(Vec::new());
        let completion = run_watched(&invocation, &Cancel::new(), &|bytes| {
            let mut output = output.lock().unwrap();
            output.extend_from_slice(bytes);
            if output.len() == 8 {
                std::fs::write(&file, "").unwrap();
            }
        });
        assert!(completion.end.is_success());
        let mut lines: Vec<String> = String::from_utf8(output.into_inner().unwrap())
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        lines.sort();
        assert_eq!(lines, ["one", "three", "two"]);
    }

    #[test]
    fn a_cancel_without_a_latch_ends_a_program() {
        let invocation = program("sleep", &["1000"]);
        let cancel = Cancel::without_latch();
        let other = cancel.clone();
        let canceller = thread::spawn(move || other.cancel());
        assert!(matches!(run(&invocation, &cancel).end, ProcessEnd::Cancelled));
        canceller.join().unwrap();
    }
}
