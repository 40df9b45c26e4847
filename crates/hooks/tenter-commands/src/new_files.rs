//! New files of hooks and plugins, which are created atomically: other processes see the complete hook or none.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_base::{replace_file, visible};
use tenter_engine::layout::HOOKS;
use tenter_terminal::{Failure, ui};

use crate::project::Project;

/// A file to create.
pub(crate) struct NewFile {
    /// The path in the new directory.
    pub name: String,
    /// The content.
    pub text: String,
    /// True if the file is executable.
    pub is_executable: bool,
}

/// Returns the directory of new hooks, for both kinds (R81).
///
/// # Errors
/// A symlink leads out of the project.
pub(crate) fn hooks_dir(project: &Project, is_for_user: bool) -> Result<PathBuf, Failure> {
    if is_for_user {
        return Ok(project.layout.new_for_user(&HOOKS));
    }
    let home = &project.env.home;
    if project.root() == home && fs::symlink_metadata(home.join(".git")).is_err() {
        let failure =
            Failure::new(format!("{} is your home directory, no project", home.display()));
        return Err(failure.help("run this in a project, or create the hook for all your projects: `tenter hooks new --user`, `tenter guard add` without --project"));
    }
    let dir = project.layout.new_in_project(&HOOKS);
    let existing = dir.ancestors().find(|path| fs::symlink_metadata(path).is_ok());
    let existing = existing.unwrap_or(project.root());
    let failure =
        |why: String| Failure::new(format!("cannot create a hook in {}: {why}", dir.display()));
    let canonical = |path: &Path| {
        path.canonicalize().map_err(|error| failure(format!("{}: {error}", path.display())))
    };
    let real = canonical(existing)?;
    if real.starts_with(canonical(project.root())?) {
        return Ok(dir);
    }
    let why = format!("{} leads out of the project, to {}", existing.display(), real.display());
    Err(failure(why)
        .help("remove the symlink, or create the hook for all your projects with --user"))
}

/// Writes an executable file.
pub(crate) fn write_file(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let result = try_file(path, text, force);
    result.map_err(|error| failure(path, &error, force))
}

/// Writes a directory with these files.
pub(crate) fn write_dir(path: &Path, files: &[NewFile], force: bool) -> Result<(), Failure> {
    let result = try_dir(path, files, force);
    result.map_err(|error| failure(path, &error, force))
}

/// Removes a hook that was just created, because a later step failed, and the directories above it if they are empty.
pub(crate) fn remove_new(path: &Path) {
    let result = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if let Err(error) = result {
        ui::note(format!("{} is left: {error}", visible(&path.to_string_lossy())));
    }
    for directory in path.ancestors().skip(1).take(2) {
        // It stays if the user has something else there.
        let _ = fs::remove_dir(directory);
    }
}

fn failure(path: &Path, error: &io::Error, force: bool) -> Failure {
    if error.kind() == ErrorKind::AlreadyExists && !force {
        return Failure::new(format!("{} already exists", path.display()))
            .help("choose another name, or replace it with --force");
    }
    Failure::new(format!("cannot write {}: {error}", path.display()))
}

fn try_file(path: &Path, text: &str, force: bool) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)?;
    if force {
        replace_file::replace_with_mode(path, text.as_bytes(), Some(0o755)).map(drop)
    } else {
        replace_file::create(path, text.as_bytes(), 0o755)
    }
}

fn try_dir(path: &Path, files: &[NewFile], force: bool) -> io::Result<()> {
    let above = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(above)?;
    // Hidden, so that it is not found as a hook. A replaced directory is moved into it and removed with it.
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(above)?;
    let new = scratch.path().join("made");
    for file in files {
        write_into(&new, file)?;
    }
    if fs::symlink_metadata(path).is_ok() {
        if !force {
            return Err(ErrorKind::AlreadyExists.into());
        }
        fs::rename(path, scratch.path().join("replaced"))?;
    }
    fs::rename(&new, path)
}

fn write_into(dir: &Path, file: &NewFile) -> io::Result<()> {
    let path = dir.join(&file.name);
    fs::create_dir_all(path.parent().unwrap_or(dir))?;
    fs::write(&path, &file.text)?;
    let mode = if file.is_executable { 0o755 } else { 0o644 };
    fs::set_permissions(&path, Permissions::from_mode(mode))
}
