//! Namespaces: where this process may mount, and a network of its own.

use std::fs;

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{getegid, geteuid};

/// Moves this process, which must have one thread, to a mount namespace of its own, and with `network` to a network namespace.
/// Without the right to do so, it first moves to a user namespace in which the user is the same.
///
/// # Errors
/// There are no namespaces here.
pub(crate) fn enter(mounts: bool, network: bool) -> Result<(), String> {
    let mut flags = CloneFlags::empty();
    flags.set(CloneFlags::CLONE_NEWNS, mounts);
    flags.set(CloneFlags::CLONE_NEWNET, network);
    let (uid, gid) = (geteuid(), getegid());
    let is_own = uid.is_root() && unshare(flags).is_ok();
    if !is_own {
        unshare(flags | CloneFlags::CLONE_NEWUSER)
            .map_err(|error| format!("no user namespaces ({error})"))?;
        let map = |file: &str, id: u32| fs::write(file, format!("{id} {id} 1"));
        fs::write("/proc/self/setgroups", "deny")
            .and_then(|()| map("/proc/self/uid_map", uid.as_raw()))
            .and_then(|()| map("/proc/self/gid_map", gid.as_raw()))
            .map_err(|error| format!("the user namespace has no user ({error})"))?;
    }
    if mounts {
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change("/", private).map_err(|error| format!("no mounts ({error})"))?;
    }
    Ok(())
}
