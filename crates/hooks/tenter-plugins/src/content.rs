//! The content of a plugin in memory: files and symlinks by path. The lock file records its hash.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// A file or a symlink of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEntry {
    /// A file.
    File {
        /// The content.
        bytes: Vec<u8>,
        /// True if the file is executable.
        executable: bool,
    },
    /// A symlink.
    Link {
        /// The target.
        target: String,
    },
}

impl TreeEntry {
    /// Returns the git mode and the SHA-256 of the content or target: `100755 9f86…`.
    pub fn digest(&self) -> String {
        let (mode, bytes) = match self {
            Self::File { bytes, executable: true } => ("100755", bytes.as_slice()),
            Self::File { bytes, executable: false } => ("100644", bytes.as_slice()),
            Self::Link { target } => ("120000", target.as_bytes()),
        };
        format!("{mode} {:x}", Sha256::digest(bytes))
    }

    /// Returns the text of a text file.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::File { bytes, .. } => {
                std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
            }
            Self::Link { .. } => None,
        }
    }
}

/// The files and symlinks of a plugin, by path. Paths are relative, contain no `..`, and use `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content(pub BTreeMap<String, TreeEntry>);

impl Content {
    /// Returns the digest of every entry, by path.
    pub fn digests(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(path, entry)| (path.clone(), entry.digest())).collect()
    }

    /// Writes all entries into `directory`, which must not exist.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o755);
        builder.create(directory)?;
        for (path, entry) in &self.0 {
            let path = directory.join(path);
            builder.create(path.parent().unwrap_or(directory))?;
            match entry {
                TreeEntry::File { bytes, executable } => write_file(&path, bytes, *executable)?,
                TreeEntry::Link { target } => symlink(target, &path)?,
            }
        }
        Ok(())
    }
}

/// Returns the hash of digests: SHA-256 over the mode, hash and path of each, by path.
pub fn hash(digests: &BTreeMap<String, String>) -> String {
    let mut hasher = Sha256::new();
    for (path, digest) in digests {
        // Paths contain no zero byte, so this is unambiguous.
        hasher.update(format!("{digest} {path}\0"));
    }
    format!("{:x}", hasher.finalize())
}

fn write_file(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    let mode = if executable { 0o755 } else { 0o644 };
    // Never writes through a symlink: the file must be new.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    // The umask may have removed more permissions.
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &str, executable: bool) -> TreeEntry {
        TreeEntry::File { bytes: bytes.into(), executable }
    }

    fn hash_entries(entries: &[(&str, TreeEntry)]) -> String {
        let content = entries.iter().map(|(path, entry)| ((*path).to_owned(), entry.clone()));
        hash(&Content(content.collect()).digests())
    }

    #[test]
    fn the_hash_covers_path_mode_and_bytes() {
        let all = [
            hash_entries(&[]),
            hash_entries(&[("a", file("x", false))]),
            hash_entries(&[("b", file("x", false))]),
            hash_entries(&[("a", file("y", false))]),
            hash_entries(&[("a", file("x", true))]),
            hash_entries(&[("a", TreeEntry::Link { target: "x".into() })]),
            hash_entries(&[("a", file("x", false)), ("b", file("x", false))]),
        ];
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn written_files_are_writable_only_by_their_owner() {
        let scratch = tempfile::tempdir().unwrap();
        let entries = [("hooks/run", file("x", true)), ("hooks/lib/note", file("y", false))];
        let content = Content(entries.map(|(path, entry)| (path.to_owned(), entry)).into());
        content.write(&scratch.path().join("p")).unwrap();
        let mode = |path: &str| {
            fs::metadata(scratch.path().join(path)).unwrap().permissions().mode() & 0o777
        };
        assert_eq!((mode("p/hooks/run"), mode("p/hooks/lib/note")), (0o755, 0o644));
    }
}
