//! The programs that this process has started, and what becomes of processes whose parent has exited. Once this process adopts
//! them, they become its children, so that none that a program of ours began can get out of sight; and as a parent it has to
//! reap them.
//!
//! Programs that we started ourselves are not reaped here: how they ended is for those to learn who wait for them.

use std::collections::BTreeMap;
use std::io;
use std::mem;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, TryLockError, TryLockResult};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process_group, waitid, waitpid,
};

use super::adoption::are_adopted;
use super::processes;
use super::strays::Strays;
use crate::deadline::Deadline;

/// How often the machine's processes are gone through for zombies of orphans, at most, when nothing else calls for it.
const LOOK: Duration = Duration::from_secs(1);

/// How long each step of leaving may take: coming to a lock, killing what left its group.
const LEAVING: Duration = Duration::from_millis(300);

static PROGRAMS: Programs = Programs {
    starting: RwLock::new(()),
    own: Mutex::new(BTreeMap::new()),
    looked: Mutex::new(None),
};

struct Programs {
    /// Read by those that start a program, written by those that reap: a program that is being started has a process already
    /// but is not known yet.
    starting: RwLock<()>,
    /// The programs that we started and have not reaped; of those that end with us, how their strays are found.
    own: Mutex<BTreeMap<u32, Option<Strays>>>,
    looked: Mutex<Option<Instant>>,
}

/// Starts a program. With `strays` it is one that ends with us.
pub(super) fn spawn(command: &mut Command, strays: Option<&Strays>) -> io::Result<Child> {
    let _starting = PROGRAMS.starting.read().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    PROGRAMS.own().insert(child.id(), strays.cloned());
    Ok(child)
}

/// Has a program that was not reaped end with us, too.
pub(super) fn supervise(program: u32, strays: &Strays) {
    PROGRAMS.own().insert(program, Some(strays.clone()));
}

/// Reaps a program that has exited.
pub(super) fn reap(child: &mut Child) -> io::Result<ExitStatus> {
    // Held so long that its number cannot be another program's before it is forgotten.
    let mut own = PROGRAMS.own();
    let status = child.wait();
    own.remove(&child.id());
    status
}

/// See [`crate::kill_all`].
pub(crate) fn kill_all() {
    // Neither is ever given back: nothing starts after the others were killed, no number becomes another program's, and nobody
    // tells how they ended.
    mem::forget(within(LEAVING, || PROGRAMS.starting.try_write()));
    let Some(mut own) = within(LEAVING, || PROGRAMS.own.try_lock()) else { return };
    for (program, _) in supervised(&mut own) {
        let _ = kill_process_group(program, Signal::KILL);
    }
    let until = Deadline::after(LEAVING);
    for (program, strays) in supervised(&mut own) {
        strays.kill_until(program.as_raw_pid(), until);
    }
    mem::forget(own);
}

/// Those that end with us.
fn supervised(own: &mut BTreeMap<u32, Option<Strays>>) -> impl Iterator<Item = (Pid, &mut Strays)> {
    own.iter_mut().filter_map(|(program, strays)| {
        let program = Pid::from_raw(i32::try_from(*program).ok()?)?;
        Some((program, strays.as_mut()?))
    })
}

/// A lock, unless others keep it for longer than this: whoever is asked to leave at once must not wait for anybody.
fn within<G>(patience: Duration, try_lock: impl Fn() -> TryLockResult<G>) -> Option<G> {
    let until = Deadline::after(patience);
    loop {
        match try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if until.passed() => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Reaps orphans that have exited, unless that was done a moment ago: where there are none, this is one system call.
pub(super) fn reap_now_and_then() {
    if !are_adopted() || !is_there_a_zombie() {
        return;
    }
    let mut looked = lock(&PROGRAMS.looked);
    if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
        PROGRAMS.reap_all();
        *looked = Some(Instant::now());
    }
}

/// Reaps orphans that have exited.
pub(super) fn reap_all() {
    if are_adopted() && is_there_a_zombie() {
        PROGRAMS.reap_all();
    }
}

/// Whether any child has exited and was not reaped, ours or adopted.
fn is_there_a_zombie() -> bool {
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
                // Whatever it was, nobody asks how it ended.
                let _ = waitpid(Pid::from_raw(process.pid), WaitOptions::NOHANG);
            }
        }
    }
}

/// No lock here guards anything that a panic could leave half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
