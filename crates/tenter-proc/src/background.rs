//! Programs that outlive the call that started them. They have no deadline, and their output is a file's, not ours.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::os::Leader;
use crate::supervise::start_patiently;
use crate::{Cancel, Invocation};

/// A program that was left running. Dropping this leaves it running still; it is then nobody's to end.
#[derive(Debug)]
pub struct Background {
    /// Its process id, which is its group's too. It stays so, even when the program has exited, until this is dropped.
    pub pid: u32,
    /// Taken when this is dropped.
    leader: Option<Leader>,
    grace: Duration,
}

impl Background {
    /// Whether the program itself has not exited yet; children of its own may outlive it.
    pub fn is_running(&self) -> bool {
        self.leader.as_ref().is_some_and(Leader::is_running)
    }

    /// Ends the program and all of its group, and what left the group where orphans are adopted: SIGTERM, its grace, SIGKILL.
    /// The grace is waited for in full: the exit of the program says nothing about its children, and there are no pipes that
    /// would.
    pub fn end(self) {
        Self::end_all(vec![self]);
    }

    /// Ends several at once, with one wait for the longest grace.
    pub fn end_all(mut programs: Vec<Self>) {
        let Some(grace) = programs.iter().map(|program| program.grace).max() else { return };
        for leader in programs.iter_mut().filter_map(|program| program.leader.as_mut()) {
            leader.tell_to_end();
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

/// Starts a program that runs on its own, in a group of its own. It has nothing to read; what it writes is added to the file
/// `log`, which only its owner may read if it has to be created. Of the limits, only the grace applies, when it is ended.
pub fn start_background(invocation: &Invocation, log: &Path) -> io::Result<Background> {
    let start = || Leader::start_logging(invocation, log);
    let leader = start_patiently(Deadline::after(Duration::MAX), &Cancel::new(), start)?;
    Ok(Background { pid: leader.id(), leader: Some(leader), grace: invocation.limits.grace })
}
