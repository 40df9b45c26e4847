//! A `HOOK.md` named on the command line, by its own path or by its directory.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_base::untrusted_file;
use tenter_engine::inspect::{CHECKS, needless_script, replaces_script};
use tenter_engine::source;
use tenter_protocol::front_matter::{self, Strictness};
use tenter_protocol::manifest::Manifest;
use tenter_protocol::manifest::format::{self, MAX_FILE_SIZE};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::Failure;

use super::scripts;

/// A `HOOK.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManifestFile {
    /// The `HOOK.md`.
    pub(super) file: PathBuf,
    /// The path by which it was named: the directory or the file.
    pub(super) path: PathBuf,
}

impl ManifestFile {
    /// Returns the manifest at `path`; `None` for a directory without one.
    ///
    /// # Errors
    /// `path` does not exist, or is neither a directory nor a manifest.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, Failure> {
        let metadata = fs::metadata(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        if metadata.is_dir() {
            let file = source::manifest_file(path).map_err(|error| {
                Failure::new(format!("cannot read {}: {error}", path.display()))
            })?;
            return Ok(file.map(|file| Self { file, path: path.to_owned() }));
        }
        if metadata.is_file() && Self::has_manifest_name(path) {
            return Ok(Some(Self { file: path.to_owned(), path: path.to_owned() }));
        }
        Err(Failure::usage(format!("{} is neither a HOOK.md nor a directory", path.display())))
    }

    /// Checks whether a path has the name of a manifest.
    pub(super) fn has_manifest_name(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("HOOK.md"))
    }

    /// Returns the manifest at `path`.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn required_at(path: &Path) -> Result<Self, Failure> {
        Self::at(path)?.ok_or_else(|| Failure::new(format!("{} has no HOOK.md", path.display())))
    }

    /// Returns the hook directory.
    pub(super) fn directory(&self) -> &Path {
        match self.file.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        }
    }

    /// Reads the manifest.
    pub(super) fn read(&self, strictness: Strictness) -> (Option<Manifest>, Vec<Diagnostic>) {
        match self.bytes() {
            // A bare file name has no directory to compare the hook's name with; the real path has.
            Ok(bytes) => {
                let real = fs::canonicalize(&self.file).unwrap_or_default();
                let is_bare = self.directory() == Path::new(".");
                let path = if is_bare { &real } else { &self.file };
                format::read(path, &bytes, strictness, CHECKS)
            }
            Err(error) => {
                let message = format!("cannot read it: {error}");
                let finding = Diagnostic::new("manifest-unreadable", Severity::Error, message);
                (None, vec![finding.at(&self.file)])
            }
        }
    }

    /// Returns the diagnostics of the script, which must not exist if the manifest replaces it (R15).
    pub(super) fn check_script(&self) -> Vec<Diagnostic> {
        let bytes = self.bytes().unwrap_or_default();
        if replaces_script(&self.file, &bytes) {
            return Vec::from_iter(needless_script(&self.file, &bytes));
        }
        scripts::script_of(self.directory())
    }

    /// Returns the text below the front matter.
    pub(super) fn body(&self) -> Option<String> {
        let bytes = self.bytes().ok()?;
        Some(front_matter::body(&bytes).into_owned())
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        untrusted_file::read_prefix(&self.file, MAX_FILE_SIZE as u64 + 1)
    }
}
