//! Lists the files below a directory, following symlinks, within limits: symlinks may form loops, and a directory may be huge.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::file_stamp::FileStamp;

/// Maximum depth of a tree.
const MAX_DEPTH: usize = 16;
/// The mode bits by which the group or everyone may write.
const OTHERS_WRITE: u32 = 0o022;

/// The content of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// The files with their paths in the directory, in byte order.
    pub files: Vec<(PathBuf, FileStamp)>,
    /// The directories, its own as the empty path, in byte order.
    pub directories: Vec<(PathBuf, FileStamp)>,
    /// Files and directories whose group or everyone may write, by their paths in the directory.
    pub writable_by_others: Vec<PathBuf>,
}

/// The files that belong to a tree, and their maximum number.
pub struct TreeRules {
    /// Maximum number of files.
    pub files: usize,
    /// Skips an entry that cannot be inspected, such as a dangling symlink, instead of failing.
    pub skip_broken: bool,
    /// Returns true for an entry of the tree, given its path, its path in the directory and its metadata.
    pub counts: fn(&Path, &Path, &Metadata) -> bool,
}

impl TreeRules {
    /// Returns all files.
    pub const fn all(files: usize) -> Self {
        Self { files, skip_broken: false, counts: |_, _, _| true }
    }
}

impl Tree {
    /// Reads the tree in `directory`.
    ///
    /// # Errors
    /// The directory cannot be read, has more files than `rules` allow, or is too deep.
    pub fn read(directory: &Path, rules: &TreeRules) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.add_directory(PathBuf::new(), FileStamp::new(&fs::metadata(directory)?));
        tree.collect(directory, Path::new(""), rules)?;
        tree.sort();
        Ok(tree)
    }

    /// Sorts the entries of a tree that is complete.
    pub(crate) fn sort(&mut self) {
        self.files.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.directories.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.writable_by_others.sort();
    }

    /// Adds a file.
    pub(crate) fn add_file(&mut self, name: PathBuf, stamp: FileStamp) {
        self.add_exposed(&name, stamp);
        self.files.push((name, stamp));
    }

    /// Adds a directory, without its entries.
    pub(crate) fn add_directory(&mut self, name: PathBuf, stamp: FileStamp) {
        // The caller looks at the directory of the tree itself.
        if name != Path::new("") {
            self.add_exposed(&name, stamp);
        }
        self.directories.push((name, stamp));
    }

    fn add_exposed(&mut self, name: &Path, stamp: FileStamp) {
        if stamp.mode() & OTHERS_WRITE != 0 {
            self.writable_by_others.push(name.to_owned());
        }
    }

    fn collect(&mut self, directory: &Path, within: &Path, rules: &TreeRules) -> io::Result<()> {
        if within.components().count() > MAX_DEPTH {
            return Err(io::Error::other(format!("it is deeper than {MAX_DEPTH} directories")));
        }
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let (path, name) = (entry.path(), within.join(entry.file_name()));
            // The system finds an entry faster than its path.
            let is_link = entry.file_type()?.is_symlink();
            let metadata = match if is_link { fs::metadata(&path) } else { entry.metadata() } {
                Err(_) if rules.skip_broken => continue,
                metadata => metadata?,
            };
            if !(rules.counts)(&path, &name, &metadata) {
                continue;
            }
            if metadata.is_dir() {
                self.add_directory(name.clone(), FileStamp::new(&metadata));
                self.collect(&path, &name, rules)?;
            } else {
                self.add_file(name, FileStamp::new(&metadata));
            }
            if self.files.len() > rules.files {
                return Err(io::Error::other(format!("it has more than {} files", rules.files)));
            }
        }
        Ok(())
    }
}
