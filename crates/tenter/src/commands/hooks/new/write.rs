//! Puts new hooks, and new plugins, into their place at once: whoever looks sees all of one or nothing.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

use super::manifest::NewFile;
use crate::failure::Failure;

/// Writes an executable file.
pub(super) fn file(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let written = write_file(path, text, force);
    written.map_err(|error| failure(path, &error, force))
}

/// Writes a folder with these files.
pub(crate) fn folder(path: &Path, files: &[NewFile], force: bool) -> Result<(), Failure> {
    let written = write_folder(path, files, force);
    written.map_err(|error| failure(path, &error, force))
}

fn failure(path: &Path, error: &io::Error, force: bool) -> Failure {
    if error.kind() == ErrorKind::AlreadyExists && !force {
        return Failure::new(format!("{} exists already", path.display()))
            .help("choose another name, or replace it with --force");
    }
    Failure::new(format!("{} cannot be written: {error}", path.display()))
}

fn write_file(path: &Path, text: &str, force: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(Permissions::from_mode(0o755))?;
    let written = if force { file.persist(path) } else { file.persist_noclobber(path) };
    written.map(drop).map_err(|error| error.error)
}

fn write_folder(path: &Path, files: &[NewFile], force: bool) -> io::Result<()> {
    let above = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(above)?;
    // Hidden, so that nobody takes it for a hook; what is replaced goes with it.
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

fn write_into(folder: &Path, file: &NewFile) -> io::Result<()> {
    let path = folder.join(&file.name);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    fs::write(&path, &file.text)?;
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    fs::set_permissions(&path, Permissions::from_mode(mode))
}
