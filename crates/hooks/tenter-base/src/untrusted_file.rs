//! Reads untrusted files: never blocks on a FIFO, never reads a device, never reads without limit.
//!
//! Symlinks are followed: a caller that restricts where a file may be must check the resolved path.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Maximum size of a file that [`read_to_string`] reads, in bytes.
const MAX_TEXT: u64 = 1 << 20;

/// Opens the regular file at `path` for reading.
///
/// # Errors
/// The file cannot be opened or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::NONBLOCK).map(|(file, _)| file)
}

/// Opens the regular file at `path` for reading, which must not be a symlink.
///
/// # Errors
/// The file cannot be opened, is a symlink, or is not a regular file.
pub fn open_no_follow(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::NONBLOCK | OFlags::NOFOLLOW).map(|(file, _)| file)
}

/// Opens a regular file, and returns its size.
fn open_with(path: &Path, flags: OFlags) -> io::Result<(File, u64)> {
    let flags = flags.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata.len()))
    } else {
        Err(io::Error::other("it is not a file"))
    }
}

/// Reads the first `max_bytes` of the regular file at `path`.
///
/// # Errors
/// The file cannot be read or is not a regular file.
pub fn read_prefix(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the first line of the regular file at `path` without its line end, as far as it is in the first `max_bytes`.
/// Bytes that are not UTF-8 are replaced.
///
/// # Errors
/// The file cannot be read or is not a regular file.
pub fn first_line(path: &Path, max_bytes: u64) -> io::Result<String> {
    let bytes = read_prefix(path, max_bytes)?;
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).trim_end_matches('\r').to_owned())
}

/// Reads the regular file at `path`, which has at most `max_bytes`.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is larger.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_whole(open_with(path, OFlags::NONBLOCK)?, max_bytes)
}

/// Reads the regular file at `path`, which must not be a symlink and has at most `max_bytes`.
///
/// # Errors
/// The file cannot be read, is a symlink, is not a regular file, or is larger.
pub fn read_no_follow(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    read_whole(open_with(path, OFlags::NONBLOCK | OFlags::NOFOLLOW)?, max_bytes)
}

fn read_whole((file, size): (File, u64), max_bytes: u64) -> io::Result<Vec<u8>> {
    if size > max_bytes {
        return Err(too_large(max_bytes));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default().saturating_add(1));
    // It may grow meanwhile.
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large(max_bytes)) } else { Ok(bytes) }
}

fn too_large(max_bytes: u64) -> io::Error {
    let message = format!("it has more than {} MiB", max_bytes >> 20);
    io::Error::new(ErrorKind::FileTooLarge, message)
}

/// Reads the regular file at `path` as UTF-8, such as a configuration file.
///
/// # Errors
/// The file cannot be read, is not a regular file, is larger than 1 MiB, or is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, MAX_TEXT)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_files_that_are_too_large_or_not_utf8() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        for (length, is_read) in [(MAX_TEXT, true), (MAX_TEXT + 1, false)] {
            std::fs::write(&path, " ".repeat(usize::try_from(length).unwrap())).unwrap();
            assert_eq!(read_to_string(&path).is_ok(), is_read, "{length}");
        }
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read_to_string(&path).is_err());
    }

    #[test]
    fn rejects_devices_and_directories_without_blocking() {
        for path in ["/dev/zero", "/dev/null", "/"] {
            assert!(open(Path::new(path)).is_err(), "{path}");
        }
    }
}
