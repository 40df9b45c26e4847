//! Where hooks come from: the project, its folders in their order, and what lies in them.
//!
//! Nothing here opens a file or starts a program: names, links and modes are all that it reads.

mod project;
mod roots;
mod scan;

pub use project::project_root;
pub use roots::{Places, Root, roots};
pub use scan::{Candidate, Kind, check_file_name, scan};

use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The entries of a folder in byte order of their names; none where there is no such folder.
fn entries(dir: &Path) -> io::Result<Vec<DirEntry>> {
    if is_missing(dir) {
        return Ok(Vec::new());
    }
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

/// Whether nothing at all has this path; a link that leads nowhere is something.
fn is_missing(path: &Path) -> bool {
    let absent =
        |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    fs::symlink_metadata(path).is_err_and(|error| absent(&error))
}
