//! What a plugin holds, in memory: files and links by their paths in the plugin's folder. Its hash is what the lock keeps.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// A file or a link of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file.
    File {
        /// What is in it.
        bytes: Vec<u8>,
        /// Whether it may be executed.
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        target: String,
    },
}

impl Entry {
    /// Its mode and the SHA-256 of its bytes or its target: `100755 9f86…`. The modes are git's.
    pub fn digest(&self) -> String {
        let (mode, bytes) = match self {
            Self::File { bytes, executable: true } => ("100755", bytes.as_slice()),
            Self::File { bytes, executable: false } => ("100644", bytes.as_slice()),
            Self::Link { target } => ("120000", target.as_bytes()),
        };
        format!("{mode} {:x}", Sha256::digest(bytes))
    }

    /// Its text, where it is a file that holds text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::File { bytes, .. } => {
                std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
            }
            Self::Link { .. } => None,
        }
    }
}

/// Everything that a plugin holds, by path. Paths are relative, have no `..`, and are parted by `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content(pub BTreeMap<String, Entry>);

impl Content {
    /// The digest of every entry, by path.
    pub fn digests(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(path, entry)| (path.clone(), entry.digest())).collect()
    }

    /// Writes everything into `folder`, which must not exist.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o755);
        builder.create(folder)?;
        for (path, entry) in &self.0 {
            let path = folder.join(path);
            builder.create(path.parent().unwrap_or(folder))?;
            match entry {
                Entry::File { bytes, executable } => write_file(&path, bytes, *executable)?,
                Entry::Link { target } => symlink(target, &path)?,
            }
        }
        Ok(())
    }
}

/// The hash of digests: SHA-256 over mode, hash and path of each, in the order of the paths.
pub fn hash(digests: &BTreeMap<String, String>) -> String {
    let mut hasher = Sha256::new();
    for (path, digest) in digests {
        // No path holds a zero byte, so nothing can be read as something else.
        hasher.update(format!("{digest} {path}\0"));
    }
    format!("{:x}", hasher.finalize())
}

fn write_file(path: &Path, bytes: &[u8], executable: bool) -> io::Result<()> {
    let mode = if executable { 0o755 } else { 0o644 };
    // Never through a link: the file must be new.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    // The process's mask may have taken more away than others' right to write.
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &str, executable: bool) -> Entry {
        Entry::File { bytes: bytes.into(), executable }
    }

    fn hashed(entries: &[(&str, Entry)]) -> String {
        let content = entries.iter().map(|(path, entry)| ((*path).to_owned(), entry.clone()));
        hash(&Content(content.collect()).digests())
    }

    #[test]
    fn the_hash_covers_path_mode_and_bytes() {
        let all = [
            hashed(&[]),
            hashed(&[("a", file("x", false))]),
            hashed(&[("b", file("x", false))]),
            hashed(&[("a", file("y", false))]),
            hashed(&[("a", file("x", true))]),
            hashed(&[("a", Entry::Link { target: "x".into() })]),
            hashed(&[("a", file("x", false)), ("b", file("x", false))]),
        ];
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn what_is_written_is_for_its_owner_to_change() {
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
