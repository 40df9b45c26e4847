//! Processes of one run that left its group, by setsid(2) or job control, and that no signal to the group reaches. They can be
//! found where orphans are adopted: all that a run ever began then descends from us.
//!
//! Runs go on side by side, so a stray must be told from another run's: by its line of parents as long as that lasts, and by a
//! variable that every program is started with. A process that has lost both is left alone.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid};

use super::adoption::are_adopted;
use super::processes::{self, Process};
use crate::Invocation;
use crate::deadline::Deadline;

/// The variable. Where a program is started within a run, its value begins with that run's, and a slash.
const VARIABLE: &str = "TENTER_RUN_ID";

/// How long strays that were killed may take to die before nobody waits for them any more.
const ENDING: Duration = Duration::from_millis(300);

/// How often in a row nobody may be found before that is believed: a process may be seen in the moment in which it becomes
/// another program, or not be seen because it began while we looked.
const LOOKS: usize = 2;

/// The strays of one run.
#[derive(Debug, Clone)]
pub(super) struct Strays {
    /// The variable's value; nothing where orphans are not adopted, so that none can be found.
    mark: Option<String>,
    /// Those found so far: they are known even when their parents are gone.
    known: Vec<Process>,
}

impl Strays {
    /// Those of the run that a command is about to start.
    pub(super) fn of(command: &mut Command, invocation: &Invocation) -> Self {
        let mark = are_adopted().then(|| mark(invocation));
        if let Some(mark) = &mark {
            command.env(VARIABLE, mark);
        }
        Self { mark, known: Vec::new() }
    }

    /// Sends SIGTERM to them, and SIGCONT so that those that are stopped get to see it.
    pub(super) fn tell_to_end(&mut self, leader: i32) {
        for stray in self.find(leader) {
            stray.signal(Signal::TERM);
            stray.signal(Signal::CONT);
        }
    }

    /// Kills them, and those that they start meanwhile, until none is left or [`ENDING`] has passed.
    pub(super) fn kill(&mut self, leader: i32) {
        self.kill_until(leader, Deadline::after(ENDING));
    }

    /// The same until then at most, though at least once, and leaves their zombies.
    pub(super) fn kill_until(&mut self, leader: i32, until: Deadline) {
        if self.mark.is_none() {
            return;
        }
        let mut looks = 0;
        loop {
            let found = self.find(leader);
            looks = if found.is_empty() { looks + 1 } else { 0 };
            for stray in found {
                stray.signal(Signal::KILL);
            }
            if looks == LOOKS || until.passed() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The living processes of the run, but for its leader.
    fn find(&mut self, leader: i32) -> Vec<Process> {
        let Some(mark) = &self.mark else { return Vec::new() };
        let is_of_run = |value: &str| {
            value
                .strip_prefix(mark.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let all = processes::all();
        let ours = processes::descendants(&all, [getpid().as_raw_pid()]);
        let is_told = |process: &Process| {
            process.pid != leader
                && (self.known.iter().any(|known| known.is(*process))
                    || process.was_given(VARIABLE, is_of_run))
        };
        let told: Vec<Process> = ours.iter().copied().filter(is_told).collect();
        let began = processes::descendants(&all, told.iter().map(|one| one.pid).chain([leader]));
        self.known = told.into_iter().chain(began).filter(|process| !process.is_zombie).collect();
        self.known.sort_unstable_by_key(|process| process.pid);
        self.known.dedup_by_key(|process| process.pid);
        self.known.clone()
    }
}

/// A value that no other run has, in this process or above it.
fn mark(invocation: &Invocation) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let inherited = invocation.env.iter().rfind(|(name, _)| name == VARIABLE);
    let outer = inherited.and_then(|(_, value)| value.to_str()).map(|value| format!("{value}/"));
    let (this, number) = (getpid(), COUNT.fetch_add(1, Ordering::Relaxed));
    format!("{}{}-{number}", outer.unwrap_or_default(), this.as_raw_pid())
}
