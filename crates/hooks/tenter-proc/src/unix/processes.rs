//! The processes of this machine, from `/proc`; empty where there is no `/proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::{fs, io};

use rustix::process::{Pid, Signal, kill_process};

/// A process, identified by its id and its start time, because ids are reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SystemProcess {
    pub(super) pid: i32,
    pub(super) parent: i32,
    /// Start time in clock ticks since boot.
    started: u64,
    /// True if it has exited and is not reaped.
    pub(super) is_zombie: bool,
}

impl SystemProcess {
    /// Returns the process that has this id now.
    fn with_id(pid: i32) -> Option<Self> {
        Self::read(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses `/proc/PID/stat`. The program's name is in parentheses and may itself contain parentheses.
    fn read(pid: i32, stat: &str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
        let [state, parent, ..] = fields[..] else { return None };
        Some(Self {
            pid,
            parent: parent.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            is_zombie: matches!(state, "Z" | "X"),
        })
    }

    /// Returns true if both are the same process.
    pub(super) fn is(self, other: Self) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }

    fn exists(self) -> bool {
        Self::with_id(self.pid).is_some_and(|now| now.is(self))
    }

    /// Returns true if its initial environment has the variable `name` with a value that satisfies `is_wanted`.
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
        // A process that cannot be signalled has ended, or runs as another user; the next scan shows which.
        let _ = self.signal_by_descriptor(pid, signal).unwrap_or_else(|_| {
            // pidfds are not supported, or there are no descriptors left.
            if self.exists() { kill_process(pid, signal) } else { Ok(()) }
        });
    }

    /// Returns a pidfd always refers to the same process, so another one that reuses the id is not hit.
    #[cfg(target_os = "linux")]
    fn signal_by_descriptor(self, pid: Pid, signal: Signal) -> io::Result<rustix::io::Result<()>> {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let descriptor = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(if self.exists() { pidfd_send_signal(descriptor, signal) } else { Ok(()) })
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "systems with pidfds have the same signature")]
    fn signal_by_descriptor(self, _: Pid, _: Signal) -> io::Result<rustix::io::Result<()>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Returns every process visible in `/proc`.
pub(super) fn all() -> Vec<SystemProcess> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| SystemProcess::with_id(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Returns the processes of `all` that descend from one of `ancestors`. An ancestor is included only if it descends from another
/// one.
pub(super) fn descendants(
    all: &[SystemProcess],
    ancestors: impl IntoIterator<Item = i32>,
) -> Vec<SystemProcess> {
    let mut children: BTreeMap<i32, Vec<SystemProcess>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut below = Vec::new();
    let mut pids = BTreeSet::new();
    let mut parents: Vec<i32> = ancestors.into_iter().collect();
    while let Some(parent) = parents.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            if pids.insert(child.pid) {
                below.push(*child);
                parents.push(child.pid);
            }
        }
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> SystemProcess {
        SystemProcess { pid, parent, started: 1, is_zombie: false }
    }

    #[test]
    fn a_program_name_may_look_like_the_fields_after_it() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 4711 19";
        let process = SystemProcess::read(7, &format!("7 (a) Z 9 (b)) S 5 {rest}")).unwrap();
        assert_eq!(process, SystemProcess { pid: 7, parent: 5, started: 4711, is_zombie: false });
        assert!(SystemProcess::read(7, &format!("7 (a) Z 5 {rest}")).unwrap().is_zombie);
        for text in ["", "7 (a)", "7 (a) ", "7 (a) S", "7 (a) S 5 1 2", "7 (a) S x 1 2 3"] {
            assert_eq!(SystemProcess::read(7, text), None, "{text:?}");
        }
    }

    #[test]
    fn descendants_are_found_at_any_depth() {
        let all = [process(2, 1), process(3, 2), process(4, 3), process(5, 1), process(6, 5)];
        let pids = |ancestors: &[i32]| {
            let mut pids: Vec<i32> =
                descendants(&all, ancestors.iter().copied()).iter().map(|one| one.pid).collect();
            pids.sort_unstable();
            pids
        };
        assert_eq!(pids(&[2]), [3, 4]);
        assert_eq!(pids(&[2, 3, 5]), [3, 4, 6]);
        assert_eq!(pids(&[]), [0; 0]);
    }

    #[test]
    fn a_cycle_of_parents_ends() {
        assert_eq!(descendants(&[process(2, 3), process(3, 2)], [2]).len(), 2);
    }

    #[test]
    fn a_process_with_another_start_time_does_not_exist() {
        let own = i32::try_from(std::process::id()).unwrap();
        let all = all();
        let this = all.iter().find(|process| process.pid == own).unwrap();
        assert!(this.exists() && !this.is_zombie);
        assert!(!SystemProcess { started: this.started + 1, ..*this }.exists());
    }
}
