//! Replaces files atomically: a reader sees the old content or the new content, never a part of it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Creates the parent directory of `path` with mode 0700 unless it exists.
///
/// # Errors
/// The directory cannot be created.
pub fn create_parent(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes `bytes` to the file at `path` with mode 0600, and creates its parent directory.
///
/// # Errors
/// The file cannot be written. The old content is kept.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create_parent(path)?;
    let (temporary, file) = create_beside(path)?;
    let replaced = fill(file, bytes).and_then(|()| fs::rename(&temporary, path));
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

/// Returns an unused, hidden path next to `path` for its new content. Removes the temporary files of processes that died
/// before they could rename theirs.
pub fn temporary_beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    remove_abandoned(path, &file_name);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_file_name(format!(".{file_name}.{}-{number}", process::id()));
    // A process that had this number before may have died and left its file.
    let _ = fs::remove_file(&temporary);
    temporary
}

fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let temporary = temporary_beside(path);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    Ok((temporary, file))
}

/// Removes the temporary files of processes that no longer run.
fn remove_abandoned(path: &Path, file_name: &str) {
    let Some(Ok(entries)) = path.parent().map(fs::read_dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(|name| writer(name, file_name)).is_some_and(is_gone) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the process that wrote the temporary file `name` of `file_name`; `None` if it is another file.
fn writer(name: &str, file_name: &str) -> Option<Pid> {
    let (process, number) =
        name.strip_prefix('.')?.strip_prefix(file_name)?.strip_prefix('.')?.split_once('-')?;
    number.parse::<u64>().ok()?;
    Pid::from_raw(process.parse().ok().filter(|process| *process > 0)?)
}

fn is_gone(process: Pid) -> bool {
    test_kill_process(process) == Err(Errno::SRCH)
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No process has this id.
    const DEAD: i32 = i32::MAX;

    #[test]
    fn removes_temporary_files_of_dead_processes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (own, path) = (process::id(), folder.path().join("trust.json"));
        let abandoned = [format!(".trust.json.{DEAD}-0"), format!(".trust.json.{DEAD}-17")];
        let kept = [
            format!(".trust.json.{own}-999"),
            format!(".other.json.{DEAD}-0"),
            format!(".trust.json.{DEAD}"),
            format!(".trust.json.{DEAD}-0.bak"),
            format!("trust.json.{DEAD}-0"),
            ".trust.json.0-0".to_owned(),
            ".trust.json.-1-0".to_owned(),
            ".trust.json.lock".to_owned(),
        ];
        for name in abandoned.iter().chain(&kept) {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        replace(&path, b"whole").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        for name in abandoned {
            assert!(!folder.path().join(&name).exists(), "{name} is left");
        }
        for name in kept {
            assert!(folder.path().join(&name).exists(), "{name} is gone");
        }
    }
}
