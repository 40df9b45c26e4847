//! The directories in which agents keep their transcripts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of files that are listed below one directory.
const MAX_FILES: usize = 200_000;

/// The directories and variables from which the transcripts of all agents are found.
#[derive(Debug, Clone, Default)]
pub struct HostPlaces {
    /// The user's home directory.
    pub home: PathBuf,
    /// The environment variables.
    pub variables: BTreeMap<OsString, OsString>,
}

impl HostPlaces {
    /// Returns the directory that a variable names, or one in the home directory.
    pub(crate) fn directory(&self, variable: &str, fallback: &str) -> PathBuf {
        self.variable(variable).unwrap_or_else(|| self.home.join(fallback))
    }

    /// Returns the absolute directory that a variable names.
    pub(crate) fn variable(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(&OsString::from(name)).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    }
}

/// Lists the files below a directory that `accepts` accepts, sorted. Symlinks are not followed.
pub(crate) fn files_below(
    directory: &Path,
    depth: usize,
    accepts: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![(directory.to_owned(), depth)];
    while let Some((directory, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth > 0 {
                open.push((path, depth - 1));
            } else if kind.is_file() && files.len() < MAX_FILES && accepts(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns whether the name of a file has this start and this end.
pub(crate) fn is_named(path: &Path, start: &str, end: &str) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(start) && name.ends_with(end))
}
