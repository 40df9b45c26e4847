//! Creates hooks and plugins atomically: other processes see the complete hook or none.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tenter_base::replace_file;
use tenter_terminal::failure::Failure;

use super::manifest::NewFile;

/// Writes an executable file.
pub(super) fn file(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let written = write_file(path, text, force);
    written.map_err(|error| failure(path, &error, force))
}

/// Writes a directory with these files.
pub fn dir(path: &Path, files: &[NewFile], force: bool) -> Result<(), Failure> {
    let written = write_dir(path, files, force);
    written.map_err(|error| failure(path, &error, force))
}

fn failure(path: &Path, error: &io::Error, force: bool) -> Failure {
    if error.kind() == ErrorKind::AlreadyExists && !force {
        return Failure::new(format!("{} already exists", path.display()))
            .help("choose another name, or replace it with --force");
    }
    Failure::new(format!("cannot write {}: {error}", path.display()))
}

fn write_file(path: &Path, text: &str, force: bool) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)?;
    if force {
        replace_file::replace_with_mode(path, text.as_bytes(), Some(0o755)).map(drop)
    } else {
        replace_file::create(path, text.as_bytes(), 0o755)
    }
}

fn write_dir(path: &Path, files: &[NewFile], force: bool) -> io::Result<()> {
    let above = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(above)?;
    // Hidden, so that it is not found as a hook. A replaced directory is moved into it and removed with it.
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(above)?;
    let made = scratch.path().join("made");
    for file in files {
        write_into(&made, file)?;
    }
    if fs::symlink_metadata(path).is_ok() {
        if !force {
            return Err(ErrorKind::AlreadyExists.into());
        }
        fs::rename(path, scratch.path().join("replaced"))?;
    }
    fs::rename(&made, path)
}

fn write_into(dir: &Path, file: &NewFile) -> io::Result<()> {
    let path = dir.join(&file.name);
    fs::create_dir_all(path.parent().unwrap_or(dir))?;
    fs::write(&path, &file.text)?;
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    fs::set_permissions(&path, Permissions::from_mode(mode))
}
