//! The metadata of a hook's files, which shows whether the hook changed.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::file_stamp::{self, FileStamp};
use tenter_base::tree::{Tree, TreeRules};

/// Maximum number of files in a manifest hook's directory.
pub(crate) const MAX_FILES: usize = 5_000;

/// The metadata of all files of a hook: its file, or every file in its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookStamp {
    /// An executable's file.
    File(FileStamp),
    /// The files in a manifest hook's directory, by their paths within it, in order.
    Directory(Vec<(PathBuf, FileStamp)>),
}

impl HookStamp {
    /// Returns the stamp of the file or directory at `path`; symlinks are followed.
    ///
    /// # Errors
    /// The metadata cannot be read, or the directory has too many levels or files for a hook.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::with_exposed(path).map(|(stamp, _)| stamp)
    }

    /// Like [`Self::read`], and also returns the files in a directory that its group or everyone can write.
    pub(crate) fn with_exposed(path: &Path) -> io::Result<(Self, Vec<PathBuf>)> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_dir() {
            return Ok((Self::File(FileStamp::new(&metadata)), Vec::new()));
        }
        let Tree { files, writable_by_others, .. } = Self::tree(path)?;
        Ok((Self::Directory(files), writable_by_others))
    }

    /// Reads the files of a manifest hook in the directory at `path`.
    ///
    /// # Errors
    /// It cannot be read, or has too many levels or files for a hook.
    pub(crate) fn tree(path: &Path) -> io::Result<Tree> {
        Tree::read(path, &TreeRules::all(MAX_FILES))
    }
}

impl HookStamp {
    /// Returns whether a file in the directory of a manifest hook exists, by its path there; `None` for an executable.
    pub(crate) fn has_file(&self, name: &Path) -> Option<bool> {
        match self {
            Self::File(_) => None,
            Self::Directory(files) => Some(files.iter().any(|(path, _)| path == name)),
        }
    }

    /// Returns the SHA-256 of the stamp: equal if and only if the stamps are equal.
    pub(crate) fn digest(&self) -> String {
        match self {
            Self::File(stamp) => file_stamp::digest(&[(PathBuf::new(), *stamp)]),
            Self::Directory(files) => file_stamp::digest(files),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_stamp_covers_each_file_and_a_symlink_loop_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        let hook = scratch.path().join("hook");
        fs::create_dir_all(hook.join("scripts")).unwrap();
        fs::write(hook.join("scripts/run.sh"), "one").unwrap();
        fs::write(hook.join("HOOK.md"), "").unwrap();
        let before = HookStamp::read(&hook).unwrap();
        assert!(
            matches!(&before, HookStamp::Directory(files) if files.len() == 2 && files[0].0 == Path::new("HOOK.md"))
        );
        assert_eq!(HookStamp::read(&hook).unwrap(), before);
        assert_eq!(HookStamp::read(&hook).unwrap().digest(), before.digest());
        fs::write(hook.join("scripts/more"), "").unwrap();
        assert_ne!(HookStamp::read(&hook).unwrap(), before);
        assert_ne!(HookStamp::read(&hook).unwrap().digest(), before.digest());
        symlink("..", hook.join("scripts/up")).unwrap();
        assert!(HookStamp::read(&hook).is_err());
    }
}
