//! The change of one file of a host.

use std::path::Path;

use tenter_protocol::Diagnostic;

use super::record::FileEdit;
use super::settings_file::SettingsFile;

/// The change of one file of a host.
#[derive(Debug)]
pub struct Change {
    file: SettingsFile,
    after: Option<String>,
    pub(super) edit: FileEdit,
}

impl Change {
    /// Plans that the file has the text `after`, or is removed.
    pub(super) fn new(file: SettingsFile, after: Option<String>, edit: FileEdit) -> Self {
        Self { file, after, edit }
    }

    /// The path, perhaps of a symlink.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file before the change; `None` if it does not exist.
    pub fn before(&self) -> Option<&str> {
        self.file.text()
    }

    /// The file after the change; `None` if it is removed or still does not exist.
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Whether the file changes.
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

    /// Takes the change back, if no other program changed the file since.
    pub(super) fn take_back(&self) {
        if self.is_change()
            && let Ok(file) = SettingsFile::read(self.path())
            && file.text() == self.after()
        {
            // The error of the change itself is the one to report.
            let _ = file.replace(self.before());
        }
    }
}
