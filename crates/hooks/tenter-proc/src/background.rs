//! Background programs: they outlive the call that started them, have no deadline, and write to a log file.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::os::Leader;
use crate::supervise::start_with_retry;
use crate::{Cancel, Invocation, ProcessEnd};

/// A running background program. Dropping this leaves the program running; it can then no longer be ended through this crate.
#[derive(Debug)]
pub struct Background {
    /// The process id, which is also the id of its process group. It is not reused before this is dropped, even if the program
    /// has exited.
    pub pid: u32,
    /// Taken when this is dropped.
    leader: Option<Leader>,
    grace: Duration,
}

impl Background {
    /// Returns true while the program itself is running. Its children may outlive it.
    pub fn is_running(&self) -> bool {
        self.leader.as_ref().is_some_and(Leader::is_running)
    }

    /// Ends the program and its process group: SIGTERM, the grace period, SIGKILL. Where
    /// [orphans are adopted](crate::adopt_orphans), this includes processes that left the group.
    ///
    /// Always waits for the whole grace period: the exit of the program says nothing about its children, and there are no pipes
    /// to watch.
    ///
    /// Returns how the program ended, by itself or now.
    pub fn end(mut self) -> ProcessEnd {
        let Some(mut leader) = self.leader.take() else { return ProcessEnd::Cancelled };
        leader.terminate();
        std::thread::sleep(self.grace);
        leader.kill();
        leader.finish()
    }

    /// Ends several programs at once, with a single wait for the longest grace period.
    pub fn end_all(mut programs: Vec<Self>) {
        let Some(grace) = programs.iter().map(|program| program.grace).max() else { return };
        for leader in programs.iter_mut().filter_map(|program| program.leader.as_mut()) {
            leader.terminate();
        }
        std::thread::sleep(grace);
        for leader in programs.iter_mut().filter_map(|program| program.leader.as_mut()) {
            leader.kill();
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(leader) = self.leader.take() {
            leader.abandon();
        }
    }
}

/// Starts a program that outlives this process: in this process's group, so that it can begin a session of its own, with nothing on
/// stdin, stdout and stderr. It can no longer be ended through this crate.
///
/// # Errors
/// The program cannot be started.
pub fn start_detached(invocation: &Invocation) -> io::Result<()> {
    let start = || Leader::start_detached(invocation);
    start_with_retry(Deadline::after(Duration::MAX), &Cancel::new(), start)?.abandon();
    Ok(())
}

/// Starts a background program in its own process group, with an empty stdin. Its output is appended to the file `log`, which is
/// created with mode 0600 if it does not exist. Of the limits, only `grace` applies.
///
/// # Errors
/// The program cannot be started, or the log cannot be written.
pub fn start_background(invocation: &Invocation, log: &Path) -> io::Result<Background> {
    let start = || Leader::start_logging(invocation, log);
    let leader = start_with_retry(Deadline::after(Duration::MAX), &Cancel::new(), start)?;
    Ok(Background { pid: leader.id(), leader: Some(leader), grace: invocation.limits.grace })
}
