//! The files below a directory, symlinks followed, within limits: links may lead in circles, and a directory may be huge.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::file_stamp::FileStamp;

/// Maximum depth of a tree.
const MAX_DEPTH: usize = 16;
/// The mode bits by which the group or everyone may write.
const OTHERS_WRITE: u32 = 0o022;

/// What is in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Every file by its path in the directory, in byte order of the paths.
    pub files: Vec<(PathBuf, FileStamp)>,
    /// Files and directories whose group or everyone may write, by their paths in the directory.
    pub writable_by_others: Vec<PathBuf>,
}

/// Which files of a directory belong to its tree, and how many there may be.
pub struct TreeRules {
    /// Maximum number of files.
    pub files: usize,
    /// Whether an entry that cannot be looked at, such as a dangling link, is left out. Otherwise it is an error.
    pub skip_broken: bool,
    /// Whether the entry with this path in the directory counts; of a directory, whether anything in it does.
    pub counts: fn(&Path, &Path, &Metadata) -> bool,
}

impl TreeRules {
    /// Every file.
    pub const fn all(files: usize) -> Self {
        Self { files, skip_broken: false, counts: |_, _, _| true }
    }
}

impl Tree {
    /// The tree in `directory`.
    ///
    /// # Errors
    /// The directory cannot be read, has more files than `rules` allow, or is too deep.
    pub fn read(directory: &Path, rules: &TreeRules) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.collect(directory, Path::new(""), rules)?;
        tree.files.sort_by(|(one, _), (other, _)| one.cmp(other));
        tree.writable_by_others.sort();
        Ok(tree)
    }

    fn collect(&mut self, directory: &Path, within: &Path, rules: &TreeRules) -> io::Result<()> {
        if within.components().count() > MAX_DEPTH {
            return Err(io::Error::other(format!("it is deeper than {MAX_DEPTH} directories")));
        }
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let (path, name) = (entry.path(), within.join(entry.file_name()));
            let metadata = match fs::metadata(&path) {
                Err(_) if rules.skip_broken => continue,
                metadata => metadata?,
            };
            if !(rules.counts)(&path, &name, &metadata) {
                continue;
            }
            if metadata.permissions().mode() & OTHERS_WRITE != 0 {
                self.writable_by_others.push(name.clone());
            }
            if metadata.is_dir() {
                self.collect(&path, &name, rules)?;
            } else {
                self.files.push((name, FileStamp::new(&metadata)));
            }
            if self.files.len() > rules.files {
                return Err(io::Error::other(format!("it has more than {} files", rules.files)));
            }
        }
        Ok(())
    }
}
