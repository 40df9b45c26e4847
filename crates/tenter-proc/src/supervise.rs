//! Runs one program to its end: the order of events, free of system calls.
//!
//! It decides *when* a program is told to end, is killed, and is given up; how bytes and signals travel is the business of
//! the `os` module.

use std::io;
use std::ops::ControlFlow::{self, Break, Continue};
use std::time::{Duration, Instant};

use crate::completion::Stop;
use crate::deadline::Deadline;
use crate::os::Process;
use crate::{Cancel, Captured, Completion, End, Invocation};

/// How long a program that was killed may take to die before nobody waits for it any more: one that runs as another user
/// cannot be killed, and one that hangs in the kernel does not notice.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a program file that is open for writing is waited for.
const BUSY: Duration = Duration::from_secs(1);

/// Runs a program to its end and returns what came of it, with its output so far, whatever happened (R37, R38, R39).
///
/// The calling thread is blocked meanwhile; it does all the work. A program that is still running at its deadline, or when
/// `cancel` is thrown, gets SIGTERM, then after its grace SIGKILL, and so does its whole process group, and what left the group
/// where [orphans are adopted](crate::adopt_orphans). One that has ended by itself is not waited for longer than `drain` on
/// account of a background child that holds its pipes; that child lives on, in whatever group.
///
/// SIGPIPE must be ignored, as it is in every Rust program that does not ask otherwise.
pub fn run(invocation: &Invocation, cancel: &Cancel) -> Completion {
    let started = Instant::now();
    let deadline = Deadline::after(invocation.limits.timeout);
    if cancel.is_cancelled() {
        return without_output(End::Cancelled, started);
    }
    match start_patiently(deadline, cancel, || Process::start(invocation)) {
        Ok(process) => Supervisor { process, invocation, cancel, deadline }.run(started),
        Err(_) if cancel.is_cancelled() => without_output(End::Cancelled, started),
        Err(error) => without_output(End::NotStarted(error), started),
    }
}

/// Starts a program whose file may be busy: a script just written stays open for writing in whatever process another thread
/// happened to be starting at that moment, until that process has become its program.
pub(crate) fn start_patiently<T>(
    deadline: Deadline,
    cancel: &Cancel,
    start: impl Fn() -> io::Result<T>,
) -> io::Result<T> {
    let deadline = deadline.or_sooner(BUSY);
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

fn without_output(end: End, started: Instant) -> Completion {
    let (stdout, stderr) = (Captured::default(), Captured::default());
    Completion { end, stdout, stderr, duration: started.elapsed(), pipes_held: false }
}

/// A running program and what it is held to.
struct Supervisor<'a> {
    process: Process<'a>,
    invocation: &'a Invocation,
    cancel: &'a Cancel,
    deadline: Deadline,
}

/// How far a program has come.
#[derive(Clone, Copy)]
enum Phase {
    Running,
    /// It exited by itself, and a descendant holds its pipes.
    Lingering {
        until: Deadline,
    },
    /// Its group was told to end.
    Told {
        stop: Stop,
        kill: Deadline,
    },
    /// Its group was killed.
    Killed {
        stop: Stop,
        drain: Deadline,
        give_up: Deadline,
    },
}

impl Supervisor<'_> {
    fn run(mut self, started: Instant) -> Completion {
        let mut phase = Phase::Running;
        loop {
            match self.next(phase) {
                Continue(next) => phase = next,
                Break(stop) => return self.finish(stop, started),
            }
            let may_be_cancelled = matches!(phase, Phase::Running | Phase::Lingering { .. });
            let cancel = may_be_cancelled.then_some(self.cancel);
            self.process.pump(cancel, self.awaited(phase).left());
        }
    }

    /// What follows, given what has happened by now; an exit outranks a deadline that passed at the same time.
    fn next(&mut self, phase: Phase) -> ControlFlow<Option<Stop>, Phase> {
        let (exited, drained) = (self.process.has_exited(), self.process.is_drained());
        match phase {
            Phase::Running if exited && drained => Break(None),
            Phase::Running if exited => Continue(self.linger()),
            Phase::Running if self.cancel.is_cancelled() => Continue(self.tell(Stop::Cancel)),
            Phase::Running if self.deadline.passed() => Continue(self.tell(Stop::Deadline)),
            Phase::Lingering { until }
                if drained || until.passed() || self.cancel.is_cancelled() =>
            {
                Break(None)
            }
            Phase::Told { stop, .. } if exited && drained => Break(Some(stop)),
            Phase::Told { stop, kill } if kill.passed() => Continue(self.kill(stop)),
            Phase::Killed { stop, drain, .. } if exited && (drained || drain.passed()) => {
                Break(Some(stop))
            }
            Phase::Killed { stop, give_up, .. } if give_up.passed() => Break(Some(stop)),
            same => Continue(same),
        }
    }

    /// The moment at which the phase ends, should nothing happen before.
    fn awaited(&self, phase: Phase) -> Deadline {
        match phase {
            Phase::Running => self.deadline,
            Phase::Lingering { until } => until,
            Phase::Told { kill, .. } => kill,
            Phase::Killed { drain, .. } if self.process.has_exited() => drain,
            Phase::Killed { give_up, .. } => give_up,
        }
    }

    fn linger(&self) -> Phase {
        Phase::Lingering { until: self.deadline.or_sooner(self.invocation.limits.drain) }
    }

    fn tell(&mut self, stop: Stop) -> Phase {
        self.process.tell_to_end();
        Phase::Told { stop, kill: Deadline::after(self.invocation.limits.grace) }
    }

    fn kill(&mut self, stop: Stop) -> Phase {
        self.process.kill();
        let drain = Deadline::after(self.invocation.limits.drain);
        Phase::Killed { stop, drain, give_up: Deadline::after(PATIENCE) }
    }

    fn finish(mut self, stop: Option<Stop>, started: Instant) -> Completion {
        if stop.is_some() {
            // Those that had let go of the pipes may have outlived the program.
            self.process.kill();
        }
        let pipes_held = !self.process.is_drained();
        let (end, stdout, stderr) = self.process.finish();
        let end = stop.map_or(end, End::from);
        Completion { end, stdout, stderr, duration: started.elapsed(), pipes_held }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::thread;

    use super::*;
    use crate::{Limits, Streams};

    fn busy_until(attempt: u32, attempts: &Cell<u32>) -> io::Result<()> {
        attempts.set(attempts.get() + 1);
        if attempts.get() < attempt {
            Err(io::ErrorKind::ExecutableFileBusy.into())
        } else {
            Ok(())
        }
    }

    #[test]
    fn a_busy_program_file_is_tried_again() {
        let attempts = Cell::new(0);
        let deadline = Deadline::after(Duration::from_mins(1));
        assert!(start_patiently(deadline, &Cancel::new(), || busy_until(4, &attempts)).is_ok());
        assert_eq!(attempts.get(), 4);
    }

    #[test]
    fn a_program_file_that_stays_busy_is_an_error_in_the_end() {
        let attempts = Cell::new(0);
        let deadline = Deadline::after(Duration::from_mins(1));
        let error = start_patiently(deadline, &Cancel::new(), || busy_until(u32::MAX, &attempts))
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ExecutableFileBusy);
        assert!(attempts.get() > 1);
    }

    #[test]
    fn a_busy_program_file_is_not_waited_for_after_the_deadline() {
        let attempts = Cell::new(0);
        let error = start_patiently(Deadline::after(Duration::ZERO), &Cancel::new(), || {
            busy_until(9, &attempts)
        });
        assert!(error.is_err());
        assert_eq!(attempts.get(), 1);
    }

    #[test]
    fn other_errors_are_not_tried_again() {
        let attempts = Cell::new(0);
        let start = || -> io::Result<()> {
            attempts.set(attempts.get() + 1);
            Err(io::ErrorKind::NotFound.into())
        };
        assert!(start_patiently(Deadline::after(Duration::MAX), &Cancel::new(), start).is_err());
        assert_eq!(attempts.get(), 1);
    }

    #[test]
    fn a_cancel_that_has_no_pipe_ends_a_program_too() {
        let invocation = Invocation {
            program: "sleep".into(),
            args: vec!["1000".into()],
            cwd: "/".into(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            stdin: Vec::new(),
            streams: Streams::Separate,
            limits: Limits { timeout: Duration::MAX, ..Limits::default() },
        };
        let cancel = Cancel::without_latch();
        let other = cancel.clone();
        let canceller = thread::spawn(move || other.cancel());
        assert!(matches!(run(&invocation, &cancel).end, End::Cancelled));
        canceller.join().unwrap();
    }
}
