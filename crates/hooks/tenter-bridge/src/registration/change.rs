//! A file of a host to register in, and the planned change of one file.

use std::path::{Path, PathBuf};

use tenter_protocol::Diagnostic;

use super::record::FileEdit;
use super::settings_file::SettingsFile;
use crate::Host;
use crate::host::RegistrationScope;

/// A host, and one of the files that it reads.
#[derive(Debug, Clone)]
pub struct Target {
    /// The host.
    pub host: &'static Host,
    /// The users for whom the file is.
    pub scope: RegistrationScope,
    /// The file, or the directory of the files that are the bridge's own.
    pub file: PathBuf,
    /// The file with the hashes of trusted handlers, if the host demands them.
    pub(super) trust_file: Option<PathBuf>,
}

/// A planned change of one file of a host.
#[derive(Debug)]
pub struct SettingsChange {
    file: SettingsFile,
    after: Option<String>,
    pub(super) edit: FileEdit,
}

impl SettingsChange {
    /// Plans that the file has the text `after`, or is removed.
    pub(super) fn new(file: SettingsFile, after: Option<String>, edit: FileEdit) -> Self {
        Self { file, after, edit }
    }

    /// Returns the path, perhaps of a symlink.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the text before the change; `None` if the file does not exist.
    pub fn before(&self) -> Option<&str> {
        self.file.text()
    }

    /// Returns the text after the change; `None` if the file is removed or still does not exist.
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Returns whether the file changes.
    pub fn is_change(&self) -> bool {
        self.before() != self.after()
    }

    /// Makes the change.
    ///
    /// # Errors
    /// The file cannot be written, or it changed since the plan was made.
    pub(super) fn apply(&self) -> Result<(), Diagnostic> {
        if self.is_change() { self.file.replace(self.after()) } else { Ok(()) }
    }

    /// Reverts the change, if no other program changed the file since.
    pub(super) fn revert(&self) {
        if self.is_change()
            && let Ok(file) = SettingsFile::read(self.path())
            && file.text() == self.after()
        {
            // The error of the change itself is the one to report.
            let _ = file.replace(self.before());
        }
    }
}
