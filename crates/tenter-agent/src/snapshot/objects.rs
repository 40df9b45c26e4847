//! The contents of files, each stored once under its SHA-256.
//!
//! Contents are written without a sync: after a crash of the machine one may be damaged, which is found when it is read.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tenter_base::{hex, private_dir};

/// A directory of contents. writers hold the lock of the project's snapshots.
#[derive(Debug)]
pub(super) struct Objects {
    directory: PathBuf,
}

impl Objects {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, content: &str) -> PathBuf {
        let (start, rest) = content.split_at_checked(2).unwrap_or((content, ""));
        self.directory.join(start).join(rest)
    }

    /// Stores a content, and returns its name.
    pub(super) fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let content = hex(&Sha256::digest(bytes));
        let path = self.path(&content);
        // A process that was killed leaves a shorter one.
        if fs::metadata(&path).is_ok_and(|found| found.len() == bytes.len() as u64) {
            return Ok(content);
        }
        match write(&path, bytes) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                private_dir::create_parent(&path)?;
                write(&path, bytes)?;
            }
            written => written?,
        }
        Ok(content)
    }

    /// A stored content.
    ///
    /// # Errors
    /// It is not stored, cannot be read, or is damaged.
    pub(super) fn get(&self, content: &str) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.path(content))?;
        if hex(&Sha256::digest(&bytes)) == content {
            Ok(bytes)
        } else {
            Err(io::Error::new(ErrorKind::InvalidData, "the stored copy is damaged"))
        }
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_contents_are_found_and_incomplete_ones_replaced() {
        let scratch = tempfile::tempdir().unwrap();
        let objects = Objects::new(scratch.path().join("objects"));
        let content = objects.put(b"precious").unwrap();
        assert_eq!(objects.get(&content).unwrap(), b"precious");
        fs::write(objects.path(&content), "precioux").unwrap();
        assert_eq!(objects.get(&content).unwrap_err().kind(), ErrorKind::InvalidData);
        fs::write(objects.path(&content), "prec").unwrap();
        objects.put(b"precious").unwrap();
        assert_eq!(objects.get(&content).unwrap(), b"precious");
    }
}
