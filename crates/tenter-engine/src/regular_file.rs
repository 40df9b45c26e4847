//! Reads files that a stranger may have laid down: a pipe that nobody writes to holds up nobody, and a file without end has one.
//! Links are followed; where they may not lead elsewhere, that is for the caller to look at.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Bytes of a configuration at most.
const LONGEST: u64 = 1 << 20;

/// Opens the regular file at `path` for reading.
///
/// # Errors
/// It cannot be opened, or is something else.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}

/// The first bytes of the regular file at `path`, `most` of them at most.
///
/// # Errors
/// It cannot be read, or is something else.
pub fn beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a configuration.
///
/// # Errors
/// It cannot be opened, is something else than a file, is longer than a mebibyte, or is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let bytes = beginning(path, LONGEST + 1)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it has more than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_or_no_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (length, is_read) in [(LONGEST, true), (LONGEST + 1, false)] {
            std::fs::write(&path, " ".repeat(usize::try_from(length).unwrap())).unwrap();
            assert_eq!(read_to_string(&path).is_ok(), is_read, "{length}");
        }
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read_to_string(&path).is_err());
    }

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        for path in ["/dev/zero", "/dev/null", "/"] {
            assert!(open(Path::new(path)).is_err(), "{path}");
        }
    }
}
