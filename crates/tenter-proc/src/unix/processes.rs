//! The processes of this machine as `/proc` shows them; nothing where there is no `/proc`. Which of them are to be looked for,
//! or signalled, is for others to say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use rustix::process::{Pid, Signal, kill_process};

/// A process, told from any other that ever had its number by when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    /// In ticks since the machine was started.
    began: u64,
    /// Whether it has exited, and only its status is left.
    pub(super) is_zombie: bool,
}

impl Process {
    /// The process that has this number now.
    fn of(pid: i32) -> Option<Self> {
        Self::read(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// A line of `/proc/PID/stat`. The program's name comes in parentheses and may hold some itself.
    fn read(pid: i32, stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
        let [state, parent, ..] = fields[..] else { return None };
        Some(Self {
            pid,
            parent: parent.parse().ok()?,
            began: fields.get(19)?.parse().ok()?,
            is_zombie: matches!(state, "Z" | "X"),
        })
    }

    /// Whether this is another look at the same process.
    pub(super) fn is(self, other: Self) -> bool {
        (self.pid, self.began) == (other.pid, other.began)
    }

    fn is_there(self) -> bool {
        Self::of(self.pid).is_some_and(|now| now.is(self))
    }

    /// Whether a variable of its environment, as it was at its start, is one that `is_wanted`.
    pub(super) fn was_given(self, name: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| {
            let value = std::str::from_utf8(entry).ok().and_then(|entry| entry.strip_prefix(name));
            value.and_then(|value| value.strip_prefix('=')).is_some_and(&is_wanted)
        })
    }

    /// Sends it a signal, unless it has ended.
    pub(super) fn signal(self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        // One that cannot be signalled has ended, or runs as another user; both show when it is looked for again.
        let _ = self.signal_by_descriptor(pid, signal).unwrap_or_else(|_| {
            // The system has no such descriptors, or none left.
            if self.is_there() { kill_process(pid, signal) } else { Ok(()) }
        });
    }

    /// A stranger that gets its number meanwhile is not hit: the descriptor is of one process for ever.
    #[cfg(target_os = "linux")]
    fn signal_by_descriptor(self, pid: Pid, signal: Signal) -> io::Result<rustix::io::Result<()>> {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(if self.is_there() { pidfd_send_signal(descriptor, signal) } else { Ok(()) })
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(
        clippy::unused_self,
        reason = "it is there for systems that have descriptors of processes"
    )]
    fn signal_by_descriptor(self, _: Pid, _: Signal) -> io::Result<rustix::io::Result<()>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Every process that can be seen.
pub(super) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| Process::of(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Those of `all` that descend from one of `ancestors`, which are not among them unless they descend from another.
pub(super) fn descendants(
    all: &[Process],
    ancestors: impl IntoIterator<Item = i32>,
) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut parents: Vec<i32> = ancestors.into_iter().collect();
    while let Some(parent) = parents.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if seen.insert(child.pid) {
                found.push(*child);
                parents.push(child.pid);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process { pid, parent, began: 1, is_zombie: false }
    }

    #[test]
    fn a_programs_name_may_look_like_the_fields_after_it() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 4711 19";
        let read = Process::read(7, &format!("7 (a) Z 9 (b)) S 5 {rest}")).unwrap();
        assert_eq!(read, Process { pid: 7, parent: 5, began: 4711, is_zombie: false });
        assert!(Process::read(7, &format!("7 (a) Z 5 {rest}")).unwrap().is_zombie);
        for broken in ["", "7 (a)", "7 (a) ", "7 (a) S", "7 (a) S 5 1 2", "7 (a) S x 1 2 3"] {
            assert_eq!(Process::read(7, broken), None, "{broken:?}");
        }
    }

    #[test]
    fn descendants_are_found_at_any_distance() {
        let all = [process(2, 1), process(3, 2), process(4, 3), process(5, 1), process(6, 5)];
        let found = |ancestors: &[i32]| {
            let mut found: Vec<i32> =
                descendants(&all, ancestors.iter().copied()).iter().map(|one| one.pid).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found(&[2]), [3, 4]);
        assert_eq!(found(&[2, 3, 5]), [3, 4, 6]);
        assert_eq!(found(&[]), [0; 0]);
    }

    #[test]
    fn processes_that_are_each_others_parents_do_not_make_it_run_for_ever() {
        assert_eq!(descendants(&[process(2, 3), process(3, 2)], [2]).len(), 2);
    }

    #[test]
    fn this_process_is_there_and_one_that_began_at_another_time_is_not() {
        let own = i32::try_from(std::process::id()).unwrap();
        let all = all();
        let this = all.iter().find(|process| process.pid == own).unwrap();
        assert!(this.is_there() && !this.is_zombie);
        assert!(!Process { began: this.began + 1, ..*this }.is_there());
    }
}
