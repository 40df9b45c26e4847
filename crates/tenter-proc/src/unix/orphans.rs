//! What becomes of processes whose parent has exited. Once this process adopts them, they become its children, so that none
//! that a program of ours began can get out of sight; and as a parent it has to reap them.
//!
//! Programs that we started ourselves are not reaped here: how they ended is for those to learn who wait for them.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, getpid, waitid, waitpid};

use super::processes;

/// How often the machine's processes are gone through for zombies of orphans, at most, when nothing else calls for it.
const LOOK: Duration = Duration::from_secs(1);

/// Set once, when this process begins to adopt orphans.
static ADOPTER: OnceLock<Adopter> = OnceLock::new();

#[derive(Default)]
struct Adopter {
    /// Read by those that start a program, written by those that reap: a program that is being started has a process already
    /// but is not known yet.
    starting: RwLock<()>,
    /// The programs that we started and have not reaped.
    own: Mutex<BTreeSet<u32>>,
    looked: Mutex<Option<Instant>>,
}

/// Has orphans become children of this process from now on.
pub(crate) fn adopt() -> io::Result<()> {
    become_their_parent()?;
    ADOPTER.get_or_init(Adopter::default);
    Ok(())
}

#[cfg(target_os = "linux")]
fn become_their_parent() -> io::Result<()> {
    // Any process id means "yes"; it is this process that becomes the parent.
    Ok(rustix::process::set_child_subreaper(Some(getpid()))?)
}

#[cfg(not(target_os = "linux"))]
fn become_their_parent() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "orphans can be adopted on Linux only"))
}

/// Whether orphans become children of this process.
pub(super) fn are_adopted() -> bool {
    ADOPTER.get().is_some()
}

/// Starts a program.
pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let Some(adopter) = ADOPTER.get() else { return command.spawn() };
    let _starting = adopter.starting.read().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    adopter.own().insert(child.id());
    Ok(child)
}

/// Reaps a program that has exited.
pub(super) fn reap(child: &mut Child) -> io::Result<ExitStatus> {
    // Held so long that its number cannot be another program's before it is forgotten.
    let mut own = ADOPTER.get().map(Adopter::own);
    let status = child.wait();
    if let Some(own) = &mut own {
        own.remove(&child.id());
    }
    status
}

/// Reaps orphans that have exited, unless that was done a moment ago: where there are none, this is one system call.
pub(super) fn reap_now_and_then() {
    let Some(adopter) = ADOPTER.get().filter(|_| is_there_a_zombie()) else { return };
    let mut looked = lock(&adopter.looked);
    if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
        adopter.reap_all();
        *looked = Some(Instant::now());
    }
}

/// Reaps orphans that have exited.
pub(super) fn reap_all() {
    if let Some(adopter) = ADOPTER.get().filter(|_| is_there_a_zombie()) {
        adopter.reap_all();
    }
}

/// Whether any child has exited and was not reaped, ours or adopted.
fn is_there_a_zombie() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    matches!(waitid(WaitId::All, options), Ok(Some(_)))
}

impl Adopter {
    fn own(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        lock(&self.own)
    }

    fn reap_all(&self) {
        let _nothing_starts = self.starting.write().unwrap_or_else(PoisonError::into_inner);
        let own = self.own();
        let this = getpid().as_raw_pid();
        for process in processes::all() {
            let is_ours = u32::try_from(process.pid).is_ok_and(|pid| own.contains(&pid));
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
