//! A `HOOK.md` that somebody names on the command line: the file itself, or the folder that it is in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tenter_base::untrusted_file;
use tenter_engine::{CHECKS, source, static_action};
use tenter_protocol::front_matter::{self, Rules};
use tenter_protocol::manifest::Manifest;
use tenter_protocol::manifest::format::{self, MAX_FILE_SIZE};
use tenter_protocol::{Diagnostic, Severity};

use super::scripts;
use crate::failure::Failure;

/// A `HOOK.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManifestFile {
    /// The file.
    pub(super) file: PathBuf,
    /// What it was found by: the folder, or the file where that was named.
    pub(super) named: PathBuf,
}

impl ManifestFile {
    /// The manifest at `path`; none in a folder without one.
    ///
    /// # Errors
    /// There is nothing at `path`, or something that is no manifest.
    pub(super) fn at(path: &Path) -> Result<Option<Self>, Failure> {
        let metadata = fs::metadata(path)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
        if metadata.is_dir() {
            let found = source::manifest_file(path).map_err(|error| {
                Failure::new(format!("{} cannot be read: {error}", path.display()))
            })?;
            return Ok(found.map(|file| Self { file, named: path.to_owned() }));
        }
        if metadata.is_file() && Self::is_named_so(path) {
            return Ok(Some(Self { file: path.to_owned(), named: path.to_owned() }));
        }
        Err(Failure::usage(format!("{} is neither a HOOK.md nor a folder", path.display())))
    }

    /// Whether a path has the name of a manifest.
    pub(super) fn is_named_so(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("HOOK.md"))
    }

    /// The manifest at `path`, which must be there.
    pub(super) fn must_be_at(path: &Path) -> Result<Self, Failure> {
        Self::at(path)?.ok_or_else(|| Failure::new(format!("{} has no HOOK.md", path.display())))
    }

    /// The hook's folder.
    pub(super) fn folder(&self) -> &Path {
        match self.file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }

    /// Reads the manifest by these rules.
    pub(super) fn read(&self, rules: Rules) -> (Option<Manifest>, Vec<Diagnostic>) {
        match self.bytes() {
            // A file that was named alone still stands in a folder, whose name its name has to be.
            Ok(bytes) => {
                let real = fs::canonicalize(&self.file).unwrap_or_default();
                let is_bare = self.folder() == Path::new(".");
                let path = if is_bare { &real } else { &self.file };
                format::read(path, &bytes, rules, CHECKS)
            }
            Err(error) => {
                let message = format!("it cannot be read: {error}");
                let finding = Diagnostic::new("manifest-unreadable", Severity::Error, message);
                (None, vec![finding.at(&self.file)])
            }
        }
    }

    /// What is wrong with the script, or with its being there although the manifest has an action (R15).
    pub(super) fn check_script(&self) -> Option<Diagnostic> {
        let bytes = self.bytes().unwrap_or_default();
        if static_action::declares_action(&self.file, &bytes) {
            return static_action::action_and_script(&self.file, &bytes);
        }
        scripts::script_of(self.folder())
    }

    /// The text below the front matter.
    pub(super) fn body(&self) -> Option<String> {
        let bytes = self.bytes().ok()?;
        Some(front_matter::body(&bytes).into_owned())
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        untrusted_file::read_prefix(&self.file, MAX_FILE_SIZE as u64 + 1)
    }
}
