//! Replaces files atomically: a reader sees the old content or the new content, never a part of it.
//!
//! The new content is written to a temporary file `.tenter.PID-NUMBER` in the same directory and renamed. A process that is
//! killed leaves its temporary file behind; the next replacement in that directory removes it.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{
    MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown, symlink,
};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::{FileStamp, private_dir};

/// Prefix of the names of temporary files.
const PREFIX: &str = ".tenter.";

/// Writes a private file: mode 0600, synced to disk, in a directory that is created with mode 0700 if it is missing.
///
/// # Errors
/// The file cannot be written. The old content is kept.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    private_dir::create_parent(path)?;
    rename_into(path, |temporary| {
        let mut file = create_new(temporary, 0o600)?;
        file.write_all(bytes)?;
        file.sync_all()
    })
}

/// Writes a file of the user with the permission bits `mode`, or with the default ones. Its directory must exist. Returns
/// the stamp of the new file.
///
/// # Errors
/// The file cannot be written. The old content is kept.
pub fn replace_with_mode(path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<FileStamp> {
    let mut file = None;
    rename_into(path, |temporary| {
        let file = file.insert(create_new(temporary, mode.unwrap_or(0o666))?);
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.write_all(bytes)
    })?;
    let metadata = file.map_or_else(|| fs::metadata(path), |file| file.metadata())?;
    Ok(FileStamp::new(&metadata))
}

/// Replaces a file by `bytes` and keeps the permission bits, owner and group in `metadata`. The new content is synced to disk.
///
/// # Errors
/// The file cannot be written, or this user cannot keep its owner or group. The old content is kept.
pub fn replace_keeping(path: &Path, bytes: &[u8], metadata: &Metadata) -> io::Result<()> {
    rename_into(path, |temporary| {
        let mut file = create_new(temporary, 0o600)?;
        file.write_all(bytes)?;
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (metadata.uid(), metadata.gid()) {
            fchown(&file, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(metadata.mode() & 0o7777))?;
        file.sync_all()
    })
}

/// Lets `path` be a symlink to `target`, also if it was another symlink or a file.
///
/// # Errors
/// The symlink cannot be created. What was at `path` is kept.
pub fn replace_symlink(path: &Path, target: &Path) -> io::Result<()> {
    private_dir::create_parent(path)?;
    rename_into(path, |temporary| symlink(target, temporary))
}

/// Writes a new file with the permission bits `mode`. Its directory must exist.
///
/// # Errors
/// Something has this path already, or the file cannot be written. Nothing is changed then.
pub fn create(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let temporary = temporary_beside(path);
    let created = write_new(&temporary, bytes, mode).and_then(|()| link(&temporary, path));
    // Gone if it was renamed; the first error is the one to report.
    let _ = fs::remove_file(&temporary);
    created
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = create_new(path, mode)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(bytes)
}

/// Gives the temporary file the name `path`, which must be unused. Some file systems have no hard links, others cannot rename
/// without replacing.
fn link(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Ok(renameat_with(CWD, temporary, CWD, path, RenameFlags::NOREPLACE)?)
        }
        linked => linked,
    }
}

/// Lets `write` fill a temporary file and renames it to `path`; removes it if either fails.
fn rename_into(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let temporary = temporary_beside(path);
    let replaced = write(&temporary).and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Returns an unused path in the directory of `path`. Its name does not contain that of `path`, which may be as long as a
/// file name can be.
fn temporary_beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let directory = path.parent().unwrap_or(Path::new("."));
    remove_abandoned(directory);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = directory.join(format!("{PREFIX}{}-{number}", process::id()));
    // An earlier process with the same id may have died and left its file.
    let _ = fs::remove_file(&temporary);
    temporary
}

/// Removes the temporary files of processes that no longer run.
fn remove_abandoned(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().and_then(writer).is_some_and(is_gone) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the process that wrote the temporary file `name`; `None` if it is not a temporary file.
fn writer(name: &str) -> Option<Pid> {
    let (process, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u64>().ok()?;
    Pid::from_raw(process.parse().ok().filter(|process| *process > 0)?)
}

fn is_gone(process: Pid) -> bool {
    test_kill_process(process) == Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No process has this id.
    const DEAD: i32 = i32::MAX;

    #[test]
    fn removes_temporary_files_of_dead_processes_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let own = process::id();
        let abandoned = [format!(".tenter.{DEAD}-0"), format!(".tenter.{DEAD}-17")];
        let kept = [
            format!(".tenter.{own}-999"),
            format!(".other.{DEAD}-0"),
            format!(".tenter.{DEAD}"),
            format!(".tenter.{DEAD}-0.bak"),
            format!("tenter.{DEAD}-0"),
            ".tenter.0-0".to_owned(),
            ".tenter.-1-0".to_owned(),
            ".tenter.lock".to_owned(),
        ];
        for is_private in [true, false] {
            for name in abandoned.iter().chain(&kept) {
                fs::write(directory.path().join(name), "half").unwrap();
            }
            // The longest name that a file can have.
            let path = directory.path().join("x".repeat(255));
            if is_private {
                replace(&path, b"whole").unwrap();
            } else {
                replace_with_mode(&path, b"whole", None).unwrap();
            }
            assert_eq!(fs::read(&path).unwrap(), b"whole");
            for name in &abandoned {
                assert!(!directory.path().join(name).exists(), "{name} is left");
            }
            for name in &kept {
                assert!(directory.path().join(name).exists(), "{name} is gone");
            }
        }
    }

    #[test]
    fn sets_the_mode_and_returns_the_stamp_of_the_new_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let stamp = replace_with_mode(&path, b"one", Some(0o640)).unwrap();
        assert_eq!((mode(), stamp), (0o640, FileStamp::new(&fs::metadata(&path).unwrap())));
        replace(&path, b"two").unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn a_failed_replacement_leaves_no_temporary_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("directory");
        fs::create_dir(&path).unwrap();
        assert!(replace(&path, b"x").is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_does_not_replace_another() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new");
        create(&path, b"first", 0o750).unwrap();
        let again = create(&path, b"second", 0o750).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        std::os::unix::fs::symlink("nowhere", directory.path().join("link")).unwrap();
        assert!(create(&directory.path().join("link"), b"x", 0o600).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "a temporary file is left");
    }
}
