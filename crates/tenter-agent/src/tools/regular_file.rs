//! Opening and replacing regular files.
//!
//! Refuses everything else before touching it: opening a pipe blocks, reading a device may never end.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use tenter_base::FileStamp;
use tenter_base::replace_file::temporary_beside;

use super::ToolError;

/// Opens a regular file for reading. `path` is a real path, `shown` what the model calls it.
pub(crate) fn open(path: &Path, shown: &str) -> Result<(File, Metadata), ToolError> {
    let failed = |error: io::Error| ToolError::new(format!("{shown}: {error}"));
    require_regular(fs::symlink_metadata(path).map_err(failed)?.file_type(), shown)?;
    // The file may have been swapped since it was looked at: the flags keep that from blocking or from leading elsewhere.
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    require_regular(metadata.file_type(), shown)?;
    Ok((file, metadata))
}

/// Replaces a regular file, or makes it, at once: whoever reads it sees the old content or the new. It keeps its mode.
/// Directories above it are made. Returns what the file looks like now.
pub(crate) fn replace(path: &Path, shown: &str, content: &[u8]) -> Result<FileStamp, ToolError> {
    let failed = |error: io::Error| ToolError::new(format!("{shown}: {error}"));
    let mode = mode_to_keep(path, shown)?;
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(failed)?;
    // Not named after the file, whose name may be as long as a name can be.
    let temporary = temporary_beside(&directory.join("tenter"));
    let replaced = write_new(&temporary, content, mode).and_then(|file| {
        fs::rename(&temporary, path)?;
        file.metadata()
    });
    if replaced.is_err() {
        // Nothing else is to be done about it: the error that matters is the one before.
        let _ = fs::remove_file(&temporary);
    }
    replaced.map(|metadata| FileStamp::new(&metadata)).map_err(failed)
}

/// The mode of the file that is there, if one is; refuses what must not be replaced.
fn mode_to_keep(path: &Path, shown: &str) -> Result<Option<u32>, ToolError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(None) };
    require_regular(metadata.file_type(), shown)?;
    if metadata.permissions().readonly() {
        return Err(ToolError::new(format!("{shown} is write-protected")));
    }
    Ok(Some(metadata.permissions().mode() & 0o7777))
}

fn write_new(path: &Path, content: &[u8], mode: Option<u32>) -> io::Result<File> {
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(mode.unwrap_or(0o666)).open(path)?;
    if let Some(mode) = mode {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.write_all(content)?;
    Ok(file)
}

fn require_regular(kind: FileType, shown: &str) -> Result<(), ToolError> {
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "a device",
    };
    Err(ToolError::new(format!("{shown} is {what}, not a file")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_with_the_next_change() {
        let directory = tempfile::tempdir().unwrap();
        // No process has the largest number that there is.
        let abandoned = directory.path().join(format!(".tenter.{}-3", i32::MAX));
        fs::write(&abandoned, "half").unwrap();
        let long = "x".repeat(255);
        replace(&directory.path().join(&long), "the file", b"whole").unwrap();
        let names: Vec<_> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, [long.as_str()]);
    }
}
