//! Copies of directories.

use std::fs;
use std::path::Path;

/// Copies a directory with its files and their permissions.
///
/// # Panics
/// Something cannot be read or written.
pub fn copy_directory(from: &Path, to: &Path) {
    copy_directory_with(from, to, &|from, to| {
        fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    });
}

/// Copies a directory; `copy_file` copies each file, from the first path to the second.
///
/// # Panics
/// Something cannot be read or written.
pub fn copy_directory_with(from: &Path, to: &Path, copy_file: &dyn Fn(&Path, &Path)) {
    let entries = fs::create_dir_all(to).and_then(|()| fs::read_dir(from));
    for entry in entries.unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let from = entry.unwrap_or_else(|error| panic!("{error}")).path();
        let to = to.join(from.file_name().unwrap_or_default());
        if from.is_dir() {
            copy_directory_with(&from, &to, copy_file);
        } else {
            copy_file(&from, &to);
        }
    }
}
