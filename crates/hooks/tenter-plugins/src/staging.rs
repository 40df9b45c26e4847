//! A temporary directory next to the plugins: on the same file system, so that a rename installs a plugin.
//!
//! It is hidden, so that it is not listed as a plugin, and its owner holds a lock in it. If the lock is free, the owner died: the
//! next installation restores what it had moved aside, and removes the directory.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tenter_base::{FileLock, replace_file};

const PREFIX: &str = ".staging-";
const LOCK: &str = "lock";
/// The name of a plugin's directory while it is replaced, if the file system cannot exchange two directories.
const ASIDE: &str = "aside";

/// A temporary directory next to the plugins, removed on drop.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
    _lock: FileLock,
}

impl Staging {
    /// Creates one in `plugins`, whose lock must be held.
    pub(crate) fn make(plugins: &Path) -> io::Result<Self> {
        let dir = plugins.join(format!("{PREFIX}{}", replace_file::random()?));
        DirBuilder::new().mode(0o700).create(&dir)?;
        let lock = FileLock::acquire(&dir.join(LOCK))?;
        Ok(Self { dir, _lock: lock })
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Moves the directory `new`, which is in this one, to `place`; the old one is removed with this directory. At no time is either
    /// incomplete, and a failure leaves the old one.
    pub(crate) fn put(&self, new: &Path, place: &Path) -> io::Result<()> {
        if fs::symlink_metadata(place).is_err() {
            return fs::rename(new, place);
        }
        match renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.put_in_two_steps(new, place),
            result => Ok(result?),
        }
    }

    fn put_in_two_steps(&self, new: &Path, place: &Path) -> io::Result<()> {
        let directory = self.dir.join(ASIDE);
        fs::create_dir_all(&directory)?;
        let aside = directory.join(place.file_name().unwrap_or_default());
        fs::rename(place, &aside)?;
        fs::rename(new, place).inspect_err(|_| {
            // The first error is the one to report.
            let _ = fs::rename(&aside, place);
        })
    }

    /// Moves `place` into this directory, to be removed with it.
    pub(crate) fn take_away(&self, place: &Path) -> io::Result<()> {
        fs::rename(place, self.dir.join("removed"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Removes what dead processes left in `plugins`, whose lock must be held. What cannot be removed is left for the next time: it is
/// hidden, and a program that a dead process started may still write there.
pub(crate) fn clean(plugins: &Path) -> io::Result<()> {
    for entry in fs::read_dir(plugins)? {
        let entry = entry?;
        let is_staging = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        if is_staging && entry.file_type()?.is_dir() && is_abandoned(&entry.path()) {
            put_back(&entry.path().join(ASIDE), plugins);
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// Returns true if the owner died: a living one holds the lock.
fn is_abandoned(dir: &Path) -> bool {
    matches!(FileLock::try_acquire(&dir.join(LOCK)), Ok(Some(_)))
}

fn put_back(aside: &Path, plugins: &Path) {
    let Ok(entries) = fs::read_dir(aside) else { return };
    for entry in entries.flatten() {
        let place = plugins.join(entry.file_name());
        if fs::symlink_metadata(&place).is_err() {
            // If it cannot be restored it is lost with the directory.
            let _ = fs::rename(entry.path(), place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(path: &Path, text: &str) {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("file"), text).unwrap();
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path.join("file")).unwrap()
    }

    #[test]
    fn replaces_a_directory_in_one_step_or_two() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("a@b");
        directory(&place, "old");
        for way in [Staging::put, Staging::put_in_two_steps] {
            let staging = Staging::make(scratch.path()).unwrap();
            directory(&staging.dir().join("plugin"), "new");
            way(&staging, &staging.dir().join("plugin"), &place).unwrap();
            assert_eq!(text(&place), "new");
            drop(staging);
            assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "nothing else is left");
        }
    }

    #[test]
    fn a_failure_leaves_the_old_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("a@b");
        directory(&place, "old");
        for way in [Staging::put, Staging::put_in_two_steps] {
            let staging = Staging::make(scratch.path()).unwrap();
            assert!(way(&staging, &staging.dir().join("missing"), &place).is_err());
            assert_eq!(text(&place), "old");
        }
    }

    #[test]
    fn removes_what_dead_processes_left_and_restores_what_they_moved_aside() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("a@b");
        directory(&place, "old");
        let living = Staging::make(scratch.path()).unwrap();
        let dead = scratch.path().join(".staging-1-0");
        directory(&dead.join("plugin"), "half");
        directory(&dead.join(ASIDE), "");
        fs::rename(&place, dead.join(ASIDE).join("a@b")).unwrap();
        clean(scratch.path()).unwrap();
        assert_eq!(text(&place), "old");
        assert!(!dead.exists() && living.dir().exists());
    }
}
