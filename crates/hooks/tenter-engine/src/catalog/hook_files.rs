//! The state of the files that say which calls hooks apply to, from their metadata alone.
//!
//! Scripts are not among them: they decide what a hook does, not which calls it applies to, and are checked before it runs.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tenter_base::file_stamp::{self, FileStamp};
use tenter_base::tree::{Tree, TreeRules};

use crate::hook_stamp::MAX_FILES;
use crate::layout::{HOOKS, ResourceLayout, entries};
use crate::source::{self, MANIFEST_FILE, SETTINGS_FILE};

/// The state of the files that say which calls hooks apply to: all entries of the hooks directories, and the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookFiles {
    files: Vec<(PathBuf, FileStamp)>,
}

impl HookFiles {
    /// Reads the state of the hooks in `layout` and of the files in `settings`, which need not exist.
    ///
    /// # Errors
    /// A directory or file cannot be read, so that nothing can be said about changes.
    pub(crate) fn read(layout: &ResourceLayout, settings: &[PathBuf]) -> io::Result<Self> {
        let (roots, problems) = layout.roots_with_duplicates(&HOOKS);
        if !problems.is_empty() {
            return Err(io::Error::other("a directory of plugins cannot be read"));
        }
        let mut state = Self::default();
        for path in settings {
            state.add(path, path.clone())?;
        }
        for root in roots {
            if state.add(&root.dir, root.dir.clone())? {
                for entry in entries(&root.dir)? {
                    state.add_entry(&entry)?;
                }
            }
        }
        Ok(state)
    }

    /// Returns the SHA-256 of the state: the same only if no file changed, was added or was removed.
    pub fn digest(&self) -> String {
        file_stamp::digest(&self.files)
    }

    /// Returns whether every later change will be noticed. `now` is the present time.
    pub fn are_settled(&self, now: Timestamp) -> bool {
        self.files.iter().all(|(_, stamp)| stamp.is_settled_at(now.as_nanosecond()))
    }

    /// Adds the file or directory at `path`, by this name; returns whether it exists.
    fn add(&mut self, path: &Path, name: PathBuf) -> io::Result<bool> {
        match fs::metadata(path) {
            Ok(metadata) => self.files.push((name, FileStamp::new(&metadata))),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn add_entry(&mut self, entry: &DirEntry) -> io::Result<()> {
        let (path, name) = (entry.path(), entry.file_name());
        if source::is_skipped(&name) && name != SETTINGS_FILE {
            return Ok(());
        }
        let kind = entry.file_type()?;
        if kind.is_file() {
            return self.add_existing(&path, name.into());
        }
        // The usual case needs one call: the manifest is in the directory, or in that to which the symlink leads.
        let manifest = Path::new(&name).join(MANIFEST_FILE);
        if self.add(&path.join(MANIFEST_FILE), manifest)? {
            return Ok(());
        }
        self.add_existing(&path, (&name).into())?;
        if path.is_dir() { self.add_directory(&path, &name) } else { Ok(()) }
    }

    /// Adds a directory without a readable `HOOK.md`: with a manifest of another name, or with files of other hooks.
    fn add_directory(&mut self, path: &Path, name: &OsStr) -> io::Result<()> {
        let files = Tree::read(path, &TreeRules::all(MAX_FILES))?.files;
        let below = files.into_iter().map(|(file, stamp)| (Path::new(name).join(file), stamp));
        self.files.extend(below);
        Ok(())
    }

    fn add_existing(&mut self, path: &Path, name: PathBuf) -> io::Result<()> {
        if self.add(path, name)? { Ok(()) } else { Err(ErrorKind::NotFound.into()) }
    }
}
