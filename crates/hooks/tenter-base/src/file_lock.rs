//! Exclusive locks between processes, held on a file that is only locked and never read.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// An exclusive lock, held until it is dropped. A process that dies releases its locks.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock on the file at `path`, which is created with mode 0600 if it is missing.
    ///
    /// # Errors
    /// The file cannot be opened, is a symlink, or cannot be locked.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        file.lock()?;
        Ok(Self { _file: file })
    }

    /// Returns the lock on the file at `path`; `None` if another process holds it.
    ///
    /// # Errors
    /// As for [`FileLock::acquire`].
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Opens the file without following a symlink and without blocking on a FIFO.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_exclusive_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let lock = FileLock::acquire(&path).unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        drop(lock);
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
    }

    #[test]
    fn symlinks_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        std::os::unix::fs::symlink(directory.path().join("elsewhere"), &path).unwrap();
        assert!(FileLock::acquire(&path).is_err());
    }
}
