//! The steps that `file_edit` and `file_write` share: they resolve a path, refuse a file that changed since it was read, and
//! replace it.

use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use tenter_base::FileStamp;

use super::file_states::SeenFiles;
use super::input::NonEmpty;
use super::tool::ToolContext;
use super::{ToolError, regular_file};

/// A file that a call may change. No other call changes a file meanwhile.
pub(super) struct FileChangeGuard<'w> {
    path: PathBuf,
    display_path: String,
    file_states: MutexGuard<'w, SeenFiles>,
    _changing: MutexGuard<'w, ()>,
}

impl<'w> FileChangeGuard<'w> {
    /// Waits until the call may change the file at `path`.
    ///
    /// # Errors
    /// The call may not change it, or it has changed since the model read it.
    pub(super) fn new(path: &NonEmpty, context: &ToolContext<'w>) -> Result<Self, ToolError> {
        let workspace = context.workspace;
        let path = workspace.resolve_to_write(&path.0, context.consent)?;
        let display_path = workspace.display_path(&path);
        let changing = workspace.changing();
        let file_states = workspace.seen();
        file_states.refuse_changed(&path, &display_path)?;
        Ok(Self { path, display_path, file_states, _changing: changing })
    }

    /// Returns the real path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path for results.
    pub(super) fn display_path(&self) -> &str {
        &self.display_path
    }

    /// Checks that the file has not changed since it was read with this stamp, whatever was recorded before.
    pub(super) fn require_unchanged_since(&mut self, stamp: FileStamp) -> Result<(), ToolError> {
        self.file_states.record(self.path.clone(), stamp);
        self.file_states.refuse_changed(&self.path, &self.display_path)
    }

    /// Replaces the file. Returns its path for the result.
    pub(super) fn replace(mut self, content: &[u8]) -> Result<String, ToolError> {
        let stamp = regular_file::replace(&self.path, &self.display_path, content)?;
        self.file_states.record(self.path, stamp);
        Ok(self.display_path)
    }
}
