//! Protected files without mounts: the launcher keeps copies, waits for the command, and puts back what it changed (F7).

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tenter_base::tree::{Tree, TreeRules};
use tenter_base::untrusted_file;

use crate::places::Protected;

/// Maximum number of files below one protected directory.
const MAX_FILES: usize = 500;
/// Maximum size of a protected file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The content of protected files before a command.
#[derive(Debug)]
pub(crate) struct Copies {
    protected_files: Protected,
    files: BTreeMap<PathBuf, (Vec<u8>, Permissions)>,
}

impl Copies {
    /// Reads the protected files.
    ///
    /// # Errors
    /// A file cannot be read, is too large, or there are too many.
    pub(crate) fn read(protected: Protected) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for path in protected.paths.iter().flat_map(|path| files_in(path)) {
            let path = path?;
            let copy = || {
                Ok((untrusted_file::read(&path, MAX_BYTES)?, fs::metadata(&path)?.permissions()))
            };
            let copy = copy().map_err(|error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })?;
            files.insert(path, copy);
        }
        Ok(Self { protected_files: protected, files })
    }

    /// Puts back what was changed or removed, and moves aside what was created. Returns the paths, each with what happened.
    pub(crate) fn put_back(&self) -> Vec<String> {
        let mut reports = Vec::new();
        for (path, (content, permissions)) in &self.files {
            if is_unchanged(path, content, permissions) {
                continue;
            }
            let result = write_back(path, content, permissions);
            reports.push(report(path, "was changed and is put back", result));
        }
        let new_files = self.protected_files.paths.iter().flat_map(|path| files_in(path)).flatten();
        let new_files: Vec<PathBuf> =
            new_files.filter(|path| !self.files.contains_key(path)).collect();
        let missing =
            self.protected_files.missing.iter().filter(|path| fs::symlink_metadata(path).is_ok());
        for path in new_files.iter().chain(missing) {
            let mut aside = path.as_os_str().to_owned();
            aside.push(".refused");
            reports.push(report(
                path,
                "was created and is renamed to *.refused",
                fs::rename(path, aside),
            ));
        }
        reports
    }
}

fn files_in(path: &Path) -> Vec<io::Result<PathBuf>> {
    if !path.is_dir() {
        return vec![Ok(path.to_owned())];
    }
    match Tree::read(path, &TreeRules { skip_broken: true, ..TreeRules::all(MAX_FILES) }) {
        Ok(tree) => tree.files.into_iter().map(|(file, _)| Ok(path.join(file))).collect(),
        Err(error) => vec![Err(error)],
    }
}

fn is_unchanged(path: &Path, content: &[u8], permissions: &Permissions) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|data| data.is_file() && data.permissions().mode() == permissions.mode())
        && untrusted_file::read(path, MAX_BYTES).is_ok_and(|now| now == content)
}

fn write_back(path: &Path, content: &[u8], permissions: &Permissions) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    if fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()) {
        let mut aside = path.as_os_str().to_owned();
        aside.push(".refused");
        fs::rename(path, aside)?;
    }
    let _ = fs::remove_file(path);
    fs::write(path, content)?;
    fs::set_permissions(path, permissions.clone())
}

fn report(path: &Path, what: &str, result: io::Result<()>) -> String {
    match result {
        Ok(()) => format!("{} {what}", path.display()),
        Err(error) => format!("{} was changed and cannot be put back: {error}", path.display()),
    }
}
