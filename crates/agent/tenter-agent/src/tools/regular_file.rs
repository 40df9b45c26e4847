//! Opens and replaces the regular files of tools. Everything else is refused before it is opened: opening a pipe blocks, and a
//! device may be endless.

use std::fs::{self, File, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

use tenter_base::{FileStamp, replace_file, untrusted_file};

use super::ToolError;

/// Opens a regular file for reading. `path` is a real path, `display_path` is the path in messages to the model.
pub(crate) fn open(path: &Path, display_path: &str) -> Result<(File, Metadata), ToolError> {
    let failure = |error: io::Error| ToolError::new(format!("{display_path}: {error}"));
    require_regular(fs::symlink_metadata(path).map_err(failure)?.file_type(), display_path)?;
    // The file may have been replaced since it was checked.
    let file = untrusted_file::open_no_follow(path).map_err(failure)?;
    let metadata = file.metadata().map_err(failure)?;
    Ok((file, metadata))
}

/// Creates or atomically replaces a regular file and keeps its mode. Missing parent directories are created. Returns the
/// stamp of the new file.
pub(crate) fn replace(
    path: &Path,
    display_path: &str,
    content: &[u8],
) -> Result<FileStamp, ToolError> {
    let failure = |error: io::Error| ToolError::new(format!("{display_path}: {error}"));
    let mode = mode_to_keep(path, display_path)?;
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failure)?;
    replace_file::replace_with_mode(path, content, mode).map_err(failure)
}

/// Returns the mode of an existing file; refuses a file that must not be replaced.
fn mode_to_keep(path: &Path, display_path: &str) -> Result<Option<u32>, ToolError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(None) };
    require_regular(metadata.file_type(), display_path)?;
    if metadata.permissions().readonly() {
        return Err(ToolError::new(format!("{display_path} is write-protected")));
    }
    Ok(Some(metadata.permissions().mode() & 0o7777))
}

fn require_regular(kind: FileType, display_path: &str) -> Result<(), ToolError> {
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "a device",
    };
    Err(ToolError::new(format!("{display_path} is {what}, not a file")))
}
