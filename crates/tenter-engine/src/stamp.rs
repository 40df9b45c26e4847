//! What the file system says of a hook, to tell whether it changed.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex::hex;
use crate::tree::{Tree, TreeRules};

/// What the file system says of a file (R11): as long as none of it changes, the content did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    modified_ns: i128,
    changed_ns: i128,
}

impl FileStamp {
    /// The stamp that `metadata` shows.
    pub fn new(metadata: &Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            mode: metadata.mode(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the file's owner may execute it.
    pub(crate) fn is_executable(self) -> bool {
        self.mode & 0o100 != 0
    }

    /// Bytes of the file.
    pub(crate) fn size(self) -> u64 {
        self.size
    }
}

/// Maximum number of files in a manifest hook's directory.
pub(crate) const MAX_FILES: usize = 5_000;

/// What the file system says of everything that a hook is made of: its file, or every file in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookStamp {
    /// An executable's file.
    File(FileStamp),
    /// The files in a manifest hook's folder, by their paths within it, in order.
    Folder(Vec<(PathBuf, FileStamp)>),
}

impl HookStamp {
    /// The stamp of what lies at `path`, links followed.
    ///
    /// # Errors
    /// It cannot be looked at, or is a folder too deep or too full for a hook.
    pub fn of(path: &Path) -> io::Result<Self> {
        Self::with_exposed(path).map(|(stamp, _)| stamp)
    }

    /// The same, and what in a directory its group or everyone can write.
    pub(crate) fn with_exposed(path: &Path) -> io::Result<(Self, Vec<PathBuf>)> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_dir() {
            return Ok((Self::File(FileStamp::new(&metadata)), Vec::new()));
        }
        let Tree { files, writable_by_others } = Tree::read(path, &TreeRules::all(MAX_FILES))?;
        Ok((Self::Folder(files), writable_by_others))
    }
}

impl HookStamp {
    /// SHA-256 over all of it: equal exactly where the stamps are.
    pub(crate) fn digest(&self) -> String {
        match self {
            Self::File(stamp) => digest(&[(PathBuf::new(), *stamp)]),
            Self::Folder(files) => digest(files),
        }
    }
}

/// SHA-256 over the names and stamps of files: equal exactly where they are.
pub(crate) fn digest(files: &[(PathBuf, FileStamp)]) -> String {
    let mut hasher = Sha256::new();
    for (name, stamp) in files {
        let name = name.as_os_str().as_encoded_bytes();
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
        for number in [stamp.device, stamp.inode, stamp.size, u64::from(stamp.mode)] {
            hasher.update(number.to_le_bytes());
        }
        hasher.update(stamp.modified_ns.to_le_bytes());
        hasher.update(stamp.changed_ns.to_le_bytes());
    }
    hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_stamped_file_by_file_and_a_circle_of_links_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        let hook = scratch.path().join("hook");
        fs::create_dir_all(hook.join("scripts")).unwrap();
        fs::write(hook.join("scripts/run.sh"), "one").unwrap();
        fs::write(hook.join("HOOK.md"), "").unwrap();
        let before = HookStamp::of(&hook).unwrap();
        assert!(
            matches!(&before, HookStamp::Folder(files) if files.len() == 2 && files[0].0 == Path::new("HOOK.md"))
        );
        assert_eq!(HookStamp::of(&hook).unwrap(), before);
        assert_eq!(HookStamp::of(&hook).unwrap().digest(), before.digest());
        fs::write(hook.join("scripts/more"), "").unwrap();
        assert_ne!(HookStamp::of(&hook).unwrap(), before);
        assert_ne!(HookStamp::of(&hook).unwrap().digest(), before.digest());
        symlink("..", hook.join("scripts/up")).unwrap();
        assert!(HookStamp::of(&hook).is_err());
    }
}
