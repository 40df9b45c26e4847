//! Mounts: files that cannot be read, and files that cannot be written in a directory that can.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::mount::{MountFlags, mount, mount_bind, mount_bind_recursive, mount_remount};
use tenter_base::mount_points;

use crate::places::{MountPlan, reads_as_empty};

impl MountPlan {
    /// Returns true if there is nothing to mount.
    pub(crate) fn is_empty(&self) -> bool {
        self.hidden_paths.is_empty() && self.read_only.is_empty()
    }

    /// Removes what is the case already, for example in a confinement around this one.
    pub(crate) fn without_existing(mut self) -> Self {
        self.hidden_paths.retain(|path| !is_hidden(path));
        self.read_only.retain(|path| !is_read_only(path));
        self
    }

    /// Mounts everything, the outer directories first: a mount hides those below it.
    ///
    /// # Errors
    /// The path that could not be mounted, and why.
    pub(crate) fn apply(&self) -> Result<(), String> {
        let failure = |path: &Path, error: io::Error| {
            format!("{} cannot be mounted ({error})", path.display())
        };
        let mut mount_points = self.pinned_directories.clone();
        mount_points.sort();
        mount_points.dedup();
        for path in &mount_points {
            mount_bind_recursive(path, path).map_err(|error| failure(path, error.into()))?;
        }
        for path in &self.read_only {
            make_read_only(path).map_err(|error| failure(path, error))?;
        }
        let mut above: Option<&Path> = None;
        for path in &self.hidden_paths {
            if above.is_some_and(|above| path.starts_with(above)) {
                continue;
            }
            above = Some(path);
            hide(path).map_err(|error| failure(path, error))?;
        }
        Ok(())
    }
}

/// Mounts what is at `path` over itself, with the mounts in it, whose own flags stay.
fn make_read_only(path: &Path) -> io::Result<()> {
    mount_bind_recursive(path, path)?;
    remount(path, MountFlags::RDONLY)
}

/// Returns the paths and the mount points below them, each of which is made read-only by itself.
///
/// # Errors
/// The mounts cannot be listed.
pub(crate) fn with_inner_mounts(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut all = paths.to_vec();
    if !paths.is_empty() {
        let points = mount_points(&fs::read_to_string("/proc/self/mountinfo")?);
        let is_inner = |point: &PathBuf| paths.iter().any(|path| point.starts_with(path));
        all.extend(points.into_iter().filter(is_inner));
        all.sort();
        all.dedup();
    }
    Ok(all)
}

/// Hides a directory behind an empty one, and a file behind a device that cannot be opened or that is empty.
fn hide(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        let flags =
            MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        return Ok(mount("tenter", path, "tmpfs", flags, c"mode=000,size=4k")?);
    }
    mount_bind("/dev/null", path)?;
    if reads_as_empty(path) {
        return Ok(());
    }
    remount(path, MountFlags::RDONLY | MountFlags::NODEV)
}

/// Changes the flags of a mount. Those that it has must be repeated: they may be locked.
fn remount(path: &Path, flags: MountFlags) -> io::Result<()> {
    let present = statvfs(path)?.f_flag;
    let mut all = MountFlags::BIND | flags;
    for (flag, mount_flag) in [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        all.set(mount_flag, all.contains(mount_flag) || present.contains(flag));
    }
    Ok(mount_remount(path, all, c"")?)
}

/// Returns true if nothing can be read at `path`.
fn is_hidden(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return true };
    if metadata.is_dir() {
        return fs::read_dir(path).map_or(true, |mut entries| entries.next().is_none());
    }
    if metadata.file_type().is_char_device() {
        return true;
    }
    // Sockets cannot be opened at all, so the error does not tell whether they are hidden.
    metadata.is_file() && File::open(path).is_err()
}

/// Returns true if the mount of `path` is read-only.
fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|stat| stat.f_flag.contains(StatVfsMountFlags::RDONLY))
}
