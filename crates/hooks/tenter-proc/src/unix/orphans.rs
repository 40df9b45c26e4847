//! Keeps track of the programs that this process has started, and reaps adopted orphans.
//!
//! Programs that this process started itself are not reaped as orphans: their exit status belongs to the thread that waits for
//! them.

use std::collections::BTreeMap;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, TryLockError, TryLockResult};
use std::time::{Duration, Instant};
use std::{io, mem, thread};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process_group, waitid, waitpid,
};

use super::adoption::are_adopted;
use super::processes;
use super::strays::Strays;
use crate::deadline::Deadline;

/// Minimum time between two scans of all processes for orphaned zombies.
const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum duration of each step of [`kill_all`]: taking a lock, killing processes that left their group.
const KILL_ALL_TIMEOUT: Duration = Duration::from_millis(300);

static PROGRAMS: Programs = Programs {
    starting: RwLock::new(()),
    own: Mutex::new(BTreeMap::new()),
    last_scan: Mutex::new(None),
};

struct Programs {
    /// Locked for reading while a program is started and for writing while orphans are reaped: a program that is being started
    /// already has a process but is not in `own` yet.
    starting: RwLock<()>,
    /// The programs that this process started and has not reaped. Those that [`kill_all`] kills have their strays.
    own: Mutex<BTreeMap<u32, Option<Strays>>>,
    /// When all processes were last scanned.
    last_scan: Mutex<Option<Instant>>,
}

/// Starts a program. If `strays` is given, [`kill_all`] kills it.
pub(super) fn spawn(command: &mut Command, strays: Option<&Strays>) -> io::Result<Child> {
    let _starting = PROGRAMS.starting.read().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    PROGRAMS.own().insert(child.id(), strays.cloned());
    Ok(child)
}

/// Makes [`kill_all`] kill a program that is not reaped yet.
pub(super) fn supervise(program: u32, strays: &Strays) {
    PROGRAMS.own().insert(program, Some(strays.clone()));
}

/// Reaps a program that has exited.
pub(super) fn reap(child: &mut Child) -> io::Result<ExitStatus> {
    // The lock is held until the id is removed, so that it cannot belong to another program meanwhile.
    let mut own = PROGRAMS.own();
    let status = child.wait();
    own.remove(&child.id());
    status
}

/// See [`crate::kill_all`].
pub(crate) fn kill_all() {
    // Neither lock is ever released: afterwards nothing is started and nothing is reaped, so no process id is reused.
    mem::forget(lock_within(KILL_ALL_TIMEOUT, || PROGRAMS.starting.try_write()));
    let Some(mut own) = lock_within(KILL_ALL_TIMEOUT, || PROGRAMS.own.try_lock()) else { return };
    for (program, _) in supervised(&mut own) {
        let _ = kill_process_group(program, Signal::KILL);
    }
    let until = Deadline::after(KILL_ALL_TIMEOUT);
    for (program, strays) in supervised(&mut own) {
        strays.kill_until(program.as_raw_pid(), until);
    }
    mem::forget(own);
}

/// Returns the programs that [`kill_all`] kills.
fn supervised(own: &mut BTreeMap<u32, Option<Strays>>) -> impl Iterator<Item = (Pid, &mut Strays)> {
    own.iter_mut().filter_map(|(program, strays)| {
        let program = Pid::from_raw(i32::try_from(*program).ok()?)?;
        Some((program, strays.as_mut()?))
    })
}

/// Takes a lock, or gives up after `timeout`: a process that exits must not wait for other threads.
fn lock_within<G>(timeout: Duration, try_lock: impl Fn() -> TryLockResult<G>) -> Option<G> {
    let until = Deadline::after(timeout);
    loop {
        match try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if until.passed() => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Reaps orphans that have exited, unless the last scan was less than [`SCAN_INTERVAL`] ago. Costs one system call if there are
/// none.
pub(super) fn reap_if_due() {
    if !are_adopted() || !has_zombie() {
        return;
    }
    let mut last_scan = lock(&PROGRAMS.last_scan);
    if last_scan.is_none_or(|scan| scan.elapsed() >= SCAN_INTERVAL) {
        PROGRAMS.reap_all();
        *last_scan = Some(Instant::now());
    }
}

/// Reaps orphans that have exited.
pub(super) fn reap_all() {
    if are_adopted() && has_zombie() {
        PROGRAMS.reap_all();
    }
}

/// Returns true if any child, started here or adopted, has exited and is not reaped.
fn has_zombie() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::All, options), Ok(Some(_)))
}

impl Programs {
    fn own(&self) -> MutexGuard<'_, BTreeMap<u32, Option<Strays>>> {
        lock(&self.own)
    }

    fn reap_all(&self) {
        let _nothing_starts = self.starting.write().unwrap_or_else(PoisonError::into_inner);
        let own = self.own();
        let this = getpid().as_raw_pid();
        for process in processes::all() {
            let is_ours = u32::try_from(process.pid).is_ok_and(|pid| own.contains_key(&pid));
            if process.is_zombie && process.parent == this && !is_ours {
                // The exit status of an orphan is not used.
                let _ = waitpid(Pid::from_raw(process.pid), WaitOptions::NOHANG);
            }
        }
    }
}

/// Ignores poisoning: no panic can leave the guarded data inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
