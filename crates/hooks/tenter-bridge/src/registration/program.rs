//! The program that registrations run, and the launcher of confined commands: copies in a directory of the user's. Caches of package
//! managers, virtual environments and build directories move and vanish; a registration that names them would let every call pass then (P1).

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tenter_base::privacy::Privacy;
use tenter_base::search_path::{LAUNCHER, program_beside};
use tenter_base::{private_dir, replace_file, untrusted_file};

use crate::host::HostVersion;

/// The copy, from the home directory.
const COPY: &str = ".local/share/tenter/bin/tenter-hook";
/// The version of the copy, beside it.
const VERSION: &str = "tenter-hook.version";
/// The program of hooks behind HTTP, beside the copy: a symlink to the `tenter` that was installed with the original.
const COMMAND: &str = "tenter";
/// Maximum length of a version in bytes.
const MAX_VERSION: u64 = 64;
const EXECUTABLE: u32 = 0o755;

/// The state of the program that registrations run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramState {
    /// It is missing, or was registered as a symlink to a file that is gone.
    Missing,
    /// It is older than this version of Tenter, or of an unknown version.
    Outdated(Option<HostVersion>),
    /// It has this version or a newer one.
    Current,
}

/// Returns the path of the copy in this home directory.
pub fn program_path(home: &Path) -> PathBuf {
    home.join(COPY)
}

/// Returns the path of the copy of the launcher in this home directory. Without one, the program itself is the launcher.
pub fn launcher_path(home: &Path) -> PathBuf {
    program_path(home).with_file_name(LAUNCHER)
}

/// Returns the state of the program in this home directory. Reads two small files at most, and runs nothing.
pub fn program_state(home: &Path) -> ProgramState {
    let path = program_path(home);
    if !path.is_file() {
        return ProgramState::Missing;
    }
    let text = untrusted_file::read_prefix(&path.with_file_name(VERSION), MAX_VERSION);
    let version = text.ok().and_then(|text| HostVersion::parse(&String::from_utf8_lossy(&text)));
    match version {
        Some(version) if version >= own_version() => ProgramState::Current,
        other => ProgramState::Outdated(other),
    }
}

/// Returns the version of this build of Tenter.
pub fn own_version() -> HostVersion {
    HostVersion::parse(env!("CARGO_PKG_VERSION")).unwrap_or(HostVersion::EARLIEST)
}

/// Copies `program` into this home directory, and the launcher beside it. A launcher of another version does not stay.
pub(super) fn install(home: &Path, program: &Path) -> io::Result<()> {
    let copy = program_path(home);
    match program_beside(program, LAUNCHER) {
        Some(launcher) => renew(&launcher_path(home), &launcher)?,
        None => remove_file(&launcher_path(home))?,
    }
    renew(&copy, program)?;
    let command = program.with_file_name(COMMAND);
    if command != copy.with_file_name(COMMAND) {
        replace_file::replace_symlink(&copy.with_file_name(COMMAND), &command)?;
    }
    let version = copy.with_file_name(VERSION);
    replace_file::replace(&version, format!("{}\n", env!("CARGO_PKG_VERSION")).as_bytes())
}

/// Copies a program, unless the copy is the same. Processes that run the earlier copy keep it.
fn renew(copy: &Path, program: &Path) -> io::Result<()> {
    let content = fs::read(program)?;
    let is_same = fs::symlink_metadata(copy).is_ok_and(|metadata| metadata.is_file())
        && fs::read(copy).is_ok_and(|present| present == content);
    if is_same {
        return Ok(());
    }
    private_dir::create_parent(copy)?;
    replace_file::replace_with_mode(copy, &content, Some(EXECUTABLE)).map(drop)
}

/// Removes the copies and what belongs to it. Directories that are empty then are removed, too.
pub(super) fn remove(home: &Path) -> io::Result<()> {
    let copy = program_path(home);
    for name in [VERSION, COMMAND, LAUNCHER] {
        remove_file(&copy.with_file_name(name))?;
    }
    remove_file(&copy)?;
    // The directories `bin` and `tenter`; others may have files in them.
    for directory in copy.ancestors().skip(1).take(2) {
        let _ = fs::remove_dir(directory);
    }
    Ok(())
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns why `program`, a real path, should not be copied: other users could have replaced it.
pub fn unsafe_location(program: &Path) -> Option<String> {
    let is_private = Privacy::default().is_private(program);
    (!is_private).then(|| "other users may change it or one of its directories".to_owned())
}
