//! The adoption of orphans: processes whose parent has exited become children of this process instead of init's.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static ADOPTED: AtomicBool = AtomicBool::new(false);

/// Makes orphans children of this process from now on.
pub(crate) fn adopt() -> io::Result<()> {
    become_subreaper()?;
    ADOPTED.store(true, Ordering::Relaxed);
    Ok(())
}

#[cfg(target_os = "linux")]
fn become_subreaper() -> io::Result<()> {
    // Any process id means "yes"; it is this process that becomes the parent.
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "orphans can be adopted on Linux only"))
}

/// Returns true if orphans become children of this process.
pub(super) fn are_adopted() -> bool {
    ADOPTED.load(Ordering::Relaxed)
}
