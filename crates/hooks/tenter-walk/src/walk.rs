//! Walks a directory as ripgrep does: applies ignore files, never follows symlinks, never enters a version store.
//!
//! Unlike ripgrep's walker it can be cancelled in the middle of a large directory, and it treats ignore files as
//! untrusted (R78): [`ignore_files`](crate::ignore_files) reads them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use tenter_proc::Cancel;

use crate::ignore_files::IgnoreRules;

/// The directories of version control systems.
const STORES: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// The files that a walk skips, besides version stores.
#[derive(Debug, Clone, Copy)]
pub enum SkipRules<'a> {
    /// None.
    None,
    /// The files that ignore files exclude, in the walk and in the directories above it up to this one. The user's own git
    /// settings in the home directory do not apply.
    IgnoreFiles(&'a Path),
}

/// A file or directory of a walk.
#[derive(Debug)]
pub struct WalkEntry {
    /// The path, starting with the root of the walk.
    pub path: PathBuf,
    /// The file type; symlinks are not followed.
    pub kind: FileType,
}

impl WalkEntry {
    /// Returns the metadata; for a symlink, its own.
    ///
    /// # Errors
    /// Fails if the file has disappeared or access is denied.
    pub fn metadata(&self) -> io::Result<Metadata> {
        fs::symlink_metadata(&self.path)
    }
}

/// A walk in progress, in the order of the paths. It ends early when it is cancelled.
#[derive(Debug)]
pub struct Walk<'c> {
    cancel: &'c Cancel,
    /// The root, until it has been returned.
    root: Option<PathBuf>,
    /// The directories from the root down to the current one.
    directories: Vec<Directory>,
    /// A directory that could not be read.
    error: Option<io::Error>,
    rules: Option<IgnoreRules>,
}

/// A directory in progress.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    /// The entries still to be returned, the next one last.
    rest: Vec<(OsString, FileType)>,
}

/// Returns the root itself, then everything below it, hidden files included.
pub fn walk<'c>(root: &Path, skip: SkipRules<'_>, cancel: &'c Cancel) -> Walk<'c> {
    let rules = match skip {
        SkipRules::None => None,
        SkipRules::IgnoreFiles(top) => Some(IgnoreRules::above(root, top)),
    };
    Walk { cancel, root: Some(root.to_owned()), directories: Vec::new(), error: None, rules }
}

impl Walk<'_> {
    fn next_entry(&mut self) -> io::Result<Option<WalkEntry>> {
        if let Some(root) = self.root.take() {
            let kind = fs::symlink_metadata(&root)?.file_type();
            return Ok(Some(self.entered(WalkEntry { path: root, kind })));
        }
        while let Some(directory) = self.directories.last_mut() {
            let Some((name, kind)) = directory.rest.pop() else {
                self.directories.pop();
                if let Some(rules) = &mut self.rules {
                    rules.leave();
                }
                continue;
            };
            let path = directory.path.join(&name);
            let is_ignored = |rules: &IgnoreRules| rules.excludes(&path, kind.is_dir());
            if !is_store(&name) && !self.rules.as_ref().is_some_and(is_ignored) {
                return Ok(Some(self.entered(WalkEntry { path, kind })));
            }
        }
        Ok(None)
    }

    /// Enters the directory that is returned next.
    fn entered(&mut self, entry: WalkEntry) -> WalkEntry {
        if !entry.kind.is_dir() {
            return entry;
        }
        match self.names_in(&entry.path) {
            Ok(rest) => {
                if let Some(rules) = &mut self.rules {
                    rules.enter(&entry.path, |name| rest.iter().any(|(other, _)| other == name));
                }
                self.directories.push(Directory { path: entry.path.clone(), rest });
            }
            Err(error) => self.error = Some(in_place(&entry.path, &error)),
        }
        entry
    }

    /// Returns the entries of a directory, the first one last. Entries that cannot be read are skipped.
    fn names_in(&self, directory: &Path) -> io::Result<Vec<(OsString, FileType)>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory)? {
            if self.cancel.is_cancelled() {
                return Ok(Vec::new());
            }
            if let Ok(entry) = entry
                && let Ok(kind) = entry.file_type()
            {
                names.push((entry.file_name(), kind));
            }
        }
        names.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        Ok(names)
    }
}

impl Iterator for Walk<'_> {
    type Item = io::Result<WalkEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cancel.is_cancelled() {
            return None;
        }
        match self.error.take() {
            Some(error) => Some(Err(error)),
            None => self.next_entry().transpose(),
        }
    }
}

fn in_place(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn is_store(name: &OsStr) -> bool {
    STORES.iter().any(|store| name == OsStr::new(store))
}
