//! The program that registrations run: a stable link, so that an upgrade breaks no registration (B40).

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tenter_base::privacy::Privacy;
use tenter_base::replace_file;

/// The link, from the home directory.
const LINK: &str = ".local/share/tenter/bin/tenter-hook";

/// Returns the link in this home directory.
pub fn link(home: &Path) -> PathBuf {
    home.join(LINK)
}

/// Points the link of this home directory to `program`.
pub(super) fn repoint(home: &Path, program: &Path) -> io::Result<()> {
    let link = link(home);
    match fs::symlink_metadata(&link) {
        Ok(metadata) if !metadata.is_symlink() => {
            return Err(io::Error::other(format!("{} is not a symlink", link.display())));
        }
        Ok(_) if fs::read_link(&link)? == program => return Ok(()),
        _ => {}
    }
    replace_file::replace_symlink(&link, program)
}

/// Returns why `program`, a real path, should not be registered: it may disappear, or other users could replace it.
pub fn unsafe_location(program: &Path, home: &Path) -> Option<String> {
    let above = || program.ancestors().skip(1);
    if let Some(directory) = above().find(|directory| is_build_directory(directory)) {
        return Some(format!("it is in the build directory {}", directory.display()));
    }
    let is_project =
        |directory: &&Path| *directory != home && directory.join(".git").symlink_metadata().is_ok();
    if let Some(directory) = above().find(is_project) {
        return Some(format!("it is in the project {}", directory.display()));
    }
    let is_private = Privacy::default().is_private(program);
    (!is_private).then(|| "other users may change it or one of its directories".to_owned())
}

/// Returns whether cargo builds in a directory.
fn is_build_directory(directory: &Path) -> bool {
    let is_target = directory.file_name() == Some(OsStr::new("target"));
    directory.join("CACHEDIR.TAG").is_file()
        || (is_target && directory.with_file_name("Cargo.toml").is_file())
}
