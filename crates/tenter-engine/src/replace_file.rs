//! Replaces a file as a whole, so that a reader sees the old content or the new, and never a part.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes the folder of `path`, for its owner alone, unless it exists.
pub(crate) fn make_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Gives the file at `path` the content `bytes`, readable for its owner alone.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_folder_of(path)?;
    let (temporary, file) = create_beside(path)?;
    let replaced = fill(file, bytes).and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        // What went wrong first is what the caller shall hear of.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_file_name(format!(".{file_name}.{}-{number}", process::id()));
    // A process that had this number before may have died and left its file.
    let _ = fs::remove_file(&temporary);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    Ok((temporary, file))
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}
