//! A temporary folder beside the plugins: on the same file system, so that one rename moves a plugin in.
//!
//! It is hidden, so nothing in it is a plugin, and its owner holds a lock in it. A folder whose lock is free belongs to
//! nobody who lives: the next installation puts back what it had moved aside, and removes it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tenter_base::FileLock;

const PREFIX: &str = ".staging-";
const LOCK: &str = "lock";
/// Where a plugin is while another takes its place, where the system cannot exchange two folders at once.
const ASIDE: &str = "aside";

/// A temporary folder beside the plugins. It is removed when this is dropped.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
    _lock: FileLock,
}

impl Staging {
    /// Makes one in `plugins`. The folder's lock must be held.
    pub(crate) fn make(plugins: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = plugins.join(format!("{PREFIX}{}-{number}", process::id()));
        DirBuilder::new().mode(0o700).create(&dir)?;
        let lock = FileLock::acquire(&dir.join(LOCK))?;
        Ok(Self { dir, _lock: lock })
    }

    /// The folder, for what is needed on the way.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Puts the folder `new`, which is in here, to `place`; what was there goes with this folder. At no time is there a
    /// part of either, and after a failure there is what was there before.
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
        let folder = self.dir.join(ASIDE);
        fs::create_dir_all(&folder)?;
        let aside = folder.join(place.file_name().unwrap_or_default());
        fs::rename(place, &aside)?;
        fs::rename(new, place).inspect_err(|_| {
            // What went wrong first is what the caller shall hear of.
            let _ = fs::rename(&aside, place);
        })
    }

    /// Moves what is at `place` in here, to go with this folder.
    pub(crate) fn take_away(&self, place: &Path) -> io::Result<()> {
        fs::rename(place, self.dir.join("removed"))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Removes what dead processes have left in `plugins`, whose lock must be held. What cannot be removed is left to the next:
/// nobody sees it, and a program that one of them started may still write there.
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

/// Every living owner holds the lock: it is taken before anybody else may look.
fn is_abandoned(dir: &Path) -> bool {
    matches!(FileLock::try_acquire(&dir.join(LOCK)), Ok(Some(_)))
}

fn put_back(aside: &Path, plugins: &Path) {
    let Ok(entries) = fs::read_dir(aside) else { return };
    for entry in entries.flatten() {
        let place = plugins.join(entry.file_name());
        if fs::symlink_metadata(&place).is_err() {
            // One that cannot be put back is lost with the folder, as it was to everyone already.
            let _ = fs::rename(entry.path(), place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &Path, text: &str) {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("file"), text).unwrap();
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path.join("file")).unwrap()
    }

    #[test]
    fn one_folder_takes_the_place_of_another_both_ways() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("a@b");
        folder(&place, "old");
        for way in [Staging::put, Staging::put_in_two_steps] {
            let staging = Staging::make(scratch.path()).unwrap();
            folder(&staging.dir().join("plugin"), "new");
            way(&staging, &staging.dir().join("plugin"), &place).unwrap();
            assert_eq!(text(&place), "new");
            drop(staging);
            assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1, "nothing else is left");
        }
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("a@b");
        folder(&place, "old");
        for way in [Staging::put, Staging::put_in_two_steps] {
            let staging = Staging::make(scratch.path()).unwrap();
            assert!(way(&staging, &staging.dir().join("missing"), &place).is_err());
            assert_eq!(text(&place), "old");
        }
    }

    #[test]
    fn what_the_dead_left_is_removed_and_what_they_moved_aside_comes_back() {
        let scratch = tempfile::tempdir().unwrap();
        let place = scratch.path().join("a@b");
        folder(&place, "old");
        let living = Staging::make(scratch.path()).unwrap();
        let dead = scratch.path().join(".staging-1-0");
        folder(&dead.join("plugin"), "half");
        folder(&dead.join(ASIDE), "");
        fs::rename(&place, dead.join(ASIDE).join("a@b")).unwrap();
        clean(scratch.path()).unwrap();
        assert_eq!(text(&place), "old");
        assert!(!dead.exists() && living.dir().exists());
    }
}
