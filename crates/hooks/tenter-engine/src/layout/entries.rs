//! Lists directories.

use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Returns the entries of a directory in byte order of their names; none if it does not exist.
pub(crate) fn entries(dir: &Path) -> io::Result<Vec<DirEntry>> {
    let result = match fs::read_dir(dir) {
        Err(_) if is_missing(dir) => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut entries = result.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_cached_key(DirEntry::file_name);
    Ok(entries)
}

/// Returns whether nothing has this path; a dangling symlink counts as something.
pub(crate) fn is_missing(path: &Path) -> bool {
    let absent =
        |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    fs::symlink_metadata(path).is_err_and(|error| absent(&error))
}
