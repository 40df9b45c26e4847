//! Strays: processes of a run that left its process group, by setsid(2) or job control, so that no signal to the group reaches
//! them. They can be found where orphans are adopted: then every process that a run started descends from this process.
//!
//! Several runs may be active, so a stray is attributed to a run by its ancestors, or by an environment variable that every
//! program is started with. A process that has lost both is left alone.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid};

use super::adoption::are_adopted;
use super::processes::{self, SystemProcess};
use crate::Invocation;
use crate::deadline::Deadline;

/// The environment variable. If a run starts another run, the inner value is the outer one, a slash, and its own id.
const VARIABLE: &str = "TENTER_RUN_ID";

/// Maximum wait for killed strays.
const KILL_TIMEOUT: Duration = Duration::from_millis(300);

/// Number of consecutive scans that must find no stray: a single scan can miss a process that starts, or calls exec, during the
/// scan.
const EMPTY_SCANS: usize = 2;

/// The strays of one run.
#[derive(Debug, Clone)]
pub(super) struct Strays {
    /// The value of the variable; `None` if orphans are not adopted, so that no stray can be found.
    mark: Option<String>,
    /// The strays found so far. They stay known when their parents are gone.
    processes: Vec<SystemProcess>,
}

impl Strays {
    /// Returns the strays of the run that `command` starts next. Sets the variable of the command.
    pub(super) fn for_run(command: &mut Command, invocation: &Invocation) -> Self {
        let mark = are_adopted().then(|| mark(invocation));
        if let Some(mark) = &mark {
            command.env(VARIABLE, mark);
        }
        Self { mark, processes: Vec::new() }
    }

    /// Sends SIGTERM, then SIGCONT so that stopped processes receive it.
    pub(super) fn terminate(&mut self, leader: i32) {
        for stray in self.find(leader) {
            stray.signal(Signal::TERM);
            stray.signal(Signal::CONT);
        }
    }

    /// Kills them, and those that they start meanwhile, until none is left or [`KILL_TIMEOUT`] has passed.
    pub(super) fn kill(&mut self, leader: i32) {
        self.kill_until(leader, Deadline::after(KILL_TIMEOUT));
    }

    /// Kills them until none is left or `until` has passed, at least once. Does not reap them.
    pub(super) fn kill_until(&mut self, leader: i32, until: Deadline) {
        if self.mark.is_none() {
            return;
        }
        let mut empty_scans = 0;
        loop {
            let strays = self.find(leader);
            empty_scans = if strays.is_empty() { empty_scans + 1 } else { 0 };
            for stray in strays {
                stray.signal(Signal::KILL);
            }
            if empty_scans == EMPTY_SCANS || until.passed() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the running processes of the run, except its leader.
    fn find(&mut self, leader: i32) -> Vec<SystemProcess> {
        let Some(mark) = &self.mark else { return Vec::new() };
        let is_of_run = |value: &str| {
            value
                .strip_prefix(mark.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let all = processes::all();
        let ours = processes::descendants(&all, [getpid().as_raw_pid()]);
        let is_known_or_marked = |process: &SystemProcess| {
            process.pid != leader
                && (self.processes.iter().any(|one| one.is(*process))
                    || process.was_given(VARIABLE, is_of_run))
        };
        let members: Vec<SystemProcess> = ours.iter().copied().filter(is_known_or_marked).collect();
        let descendants =
            processes::descendants(&all, members.iter().map(|one| one.pid).chain([leader]));
        self.processes =
            members.into_iter().chain(descendants).filter(|process| !process.is_zombie).collect();
        self.processes.sort_unstable_by_key(|process| process.pid);
        self.processes.dedup_by_key(|process| process.pid);
        self.processes.clone()
    }
}

/// Returns a unique value for the variable.
fn mark(invocation: &Invocation) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let value = invocation.env.iter().rfind(|(name, _)| name == VARIABLE);
    let outer = value.and_then(|(_, value)| value.to_str()).map(|value| format!("{value}/"));
    let (this, number) = (getpid(), COUNT.fetch_add(1, Ordering::Relaxed));
    format!("{}{}-{number}", outer.unwrap_or_default(), this.as_raw_pid())
}
