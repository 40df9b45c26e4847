//! Where hooks come from: the project, its folders in their order, and what lies in them.
//!
//! Nothing here starts a program or opens a hook: names, links, modes and `hooks.toml` are all that it reads.

pub(crate) mod beside;
mod entry_point;
mod hooks_toml;
mod project;
mod roots;
mod scan;

pub use entry_point::{SCRIPTS, Script, script};
pub use hooks_toml::{HookSettings, Override, ProjectSetting, SETTINGS_FILE};
pub use project::project_root;
pub use roots::{Places, Root, roots};
pub use scan::{Candidate, Kind, check_file_name, manifest_file, scan};

use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The entries of a folder in byte order of their names; none where there is no such folder.
fn entries(dir: &Path) -> io::Result<Vec<DirEntry>> {
    let listed = match fs::read_dir(dir) {
        Err(_) if is_missing(dir) => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut entries = listed.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

/// Whether nothing at all has this path; a link that leads nowhere is something.
fn is_missing(path: &Path) -> bool {
    let absent =
        |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    fs::symlink_metadata(path).is_err_and(|error| absent(&error))
}
