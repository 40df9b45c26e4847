//! The directory of this machine's settings, `/etc`, in a mount namespace: what a proof writes there is not written to the machine.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount, mount_bind_recursive};

/// The directory of the machine's settings.
const DIRECTORY: &str = "/etc";

/// Returns the name of the mount namespace of this process, such as `mnt:[4026531841]`.
pub fn mount_namespace() -> Option<PathBuf> {
    fs::read_link("/proc/self/ns/mnt").ok()
}

/// Returns whether this process has other mounts than the process that was in the namespace `outer`, and than its parent.
pub fn has_own_mounts(outer: &OsStr) -> bool {
    let Some(own) = mount_namespace() else { return false };
    let parent = fs::read_link(format!("/proc/{}/ns/mnt", parent_id()));
    // A process in another user namespace cannot read its parent's.
    let is_of_parent = parent.is_ok_and(|parent| parent == own);
    !outer.is_empty() && own.as_os_str() != outer && !is_of_parent
}

/// Mounts an empty directory over `/etc`, in which everything is mounted that `/etc` has, but for the directory of `file`. Call it only in a
/// process that [has its own mounts](has_own_mounts).
///
/// # Errors
/// The system does not permit it.
pub(crate) fn hide_settings_around(file: &Path) -> io::Result<()> {
    let own_entry = file.strip_prefix(DIRECTORY).ok().and_then(|path| path.iter().next());
    let directory = File::open(DIRECTORY)?;
    let names: Vec<_> =
        fs::read_dir(DIRECTORY)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    // The mount hides the entries: they are reached by the open directory.
    let entries = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tenter", DIRECTORY, "tmpfs", flags, c"mode=755,size=4m")?;
    for name in names.iter().filter(|name| Some(name.as_os_str()) != own_entry) {
        let (from, to) = (entries.join(name), Path::new(DIRECTORY).join(name));
        let metadata = fs::symlink_metadata(&from)?;
        if metadata.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
            continue;
        }
        if metadata.is_dir() {
            fs::create_dir(&to)?;
        } else {
            File::create(&to)?;
        }
        mount_bind_recursive(&from, &to)?;
    }
    Ok(())
}
