//! Replaces files atomically: a reader sees the old content or the new content, never a part of it.
//!
//! The new content is written to a temporary file in the same directory and renamed. Its name is `.tenter.` and a random number:
//! processes of several PID namespaces may share the directory, so a process id says nothing (R86). A process that is killed
//! leaves its temporary file behind; a replacement in that directory removes it a day later.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{
    MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown, symlink,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::{FileStamp, hex, private_dir};

/// Prefix of the names of temporary files.
const PREFIX: &str = ".tenter.";
/// Number of random bytes in such a name.
const RANDOM_BYTES: usize = 8;
/// The age from which a temporary file is abandoned: nothing takes that long to write.
const ABANDONED: Duration = Duration::from_hours(24);

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
    let temporary = temporary_beside(path)?;
    let result = write_new(&temporary, bytes, mode).and_then(|()| {
        remove_abandoned(&temporary);
        link(&temporary, path)
    });
    // Gone if it was renamed; the first error is the one to report.
    let _ = fs::remove_file(&temporary);
    result
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
    let temporary = temporary_beside(path)?;
    let result = write(&temporary).and_then(|()| {
        remove_abandoned(&temporary);
        fs::rename(&temporary, path)
    });
    if result.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn create_new(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Returns the name of a new temporary file. It does not contain the name of the file to replace, which may be as long as a
/// file name can be. If the file is left behind, a later replacement in its directory removes it.
///
/// # Errors
/// The system has no random numbers.
pub fn temporary_name() -> io::Result<String> {
    Ok(format!("{PREFIX}{}", random()?))
}

/// Returns a random number as 16 digits, for the name of a file that no other process has.
///
/// # Errors
/// The system has no random numbers.
pub fn random() -> io::Result<String> {
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(hex(&random))
}

fn temporary_beside(path: &Path) -> io::Result<PathBuf> {
    Ok(path.parent().unwrap_or(Path::new(".")).join(temporary_name()?))
}

/// Removes the temporary files beside `newest`, which has just been written, that are much older: by the clock of their file
/// system.
fn remove_abandoned(newest: &Path) {
    let Some(directory) = newest.parent() else { return };
    let Some(now) = modified(newest) else { return };
    let Ok(entries) = fs::read_dir(directory) else { return };
    let is_old = |path: &Path| {
        modified(path).and_then(|at| now.duration_since(at).ok()).is_some_and(|age| age > ABANDONED)
    };
    for entry in entries.flatten() {
        let is_temporary = entry.file_name().to_str().is_some_and(is_temporary);
        if is_temporary && is_old(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Returns true if `name` belongs to a temporary file: it has this form, or the form `.tenter.PID-NUMBER` of earlier
/// versions.
fn is_temporary(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_random = rest.len() == 2 * RANDOM_BYTES
        && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_random || rest.split_once('-').is_some_and(|(one, other)| is_number(one) && is_number(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = ABANDONED;

    /// Writes a file that was last changed `age` before now.
    fn aged(path: &Path, age: Duration) {
        let file = File::create(path).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - age).unwrap();
    }

    #[test]
    fn removes_abandoned_temporary_files_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        // Whether a process with this id runs says nothing.
        let abandoned = [".tenter.2147483647-0", ".tenter.1-17", ".tenter.0123456789abcdef"];
        let others = [
            ".other.2147483647-0",
            ".tenter.2147483647",
            ".tenter.2147483647-0.bak",
            "tenter.2147483647-0",
            ".tenter.-1-0",
            ".tenter.0123456789abcdefa",
            ".tenter.0123456789ABCDEF",
            ".tenter.lock",
        ];
        for is_private in [true, false] {
            for name in abandoned.iter().chain(&others) {
                aged(&directory.path().join(name), DAY + Duration::from_mins(1));
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
            for name in &others {
                assert!(directory.path().join(name).exists(), "{name} is gone");
            }
        }
    }

    #[test]
    fn a_file_in_flight_is_kept_whatever_process_writes_it() {
        let directory = tempfile::tempdir().unwrap();
        // Neither process exists here: they may run in another PID namespace.
        let in_flight = [".tenter.2147483647-0".to_owned(), temporary_name().unwrap()];
        for name in &in_flight {
            aged(&directory.path().join(name), Duration::from_hours(23));
        }
        replace(&directory.path().join("file"), b"whole").unwrap();
        create(&directory.path().join("new"), b"whole", 0o600).unwrap();
        for name in &in_flight {
            assert!(directory.path().join(name).exists(), "{name} is gone");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4);
    }

    #[test]
    fn temporary_names_are_random() {
        assert_ne!(temporary_name().unwrap(), temporary_name().unwrap());
        assert!(is_temporary(&temporary_name().unwrap()));
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
