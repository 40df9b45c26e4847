//! The states of the files that the model has read or written in a conversation, so that it never overwrites changes
//! by others.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use tenter_base::FileStamp;

use super::ToolError;

/// The files that the agent has read or written, with their state at that time.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles(HashMap<PathBuf, SeenState>);

#[derive(Debug)]
enum SeenState {
    /// Its state when it was last read or written.
    Recorded(FileStamp),
    /// Read in a part of the history that has been replaced: the model no longer has its content.
    Forgotten,
}

impl SeenFiles {
    /// Records the state of a file.
    pub(crate) fn record(&mut self, path: PathBuf, stamp: FileStamp) {
        self.0.insert(path, SeenState::Recorded(stamp));
    }

    /// Requires every file to be read again before it is changed.
    pub(crate) fn forget(&mut self) {
        self.0.values_mut().for_each(|state| *state = SeenState::Forgotten);
    }

    /// Returns an error for a file that has changed since it was read. A file that was never read, or does not exist, is
    /// accepted.
    pub(crate) fn refuse_changed(&self, path: &Path, display_path: &str) -> Result<(), ToolError> {
        let (Some(then), Ok(now)) = (self.0.get(path), fs::symlink_metadata(path)) else {
            return Ok(());
        };
        let problem = match then {
            SeenState::Recorded(stamp) if *stamp == FileStamp::new(&now) => return Ok(()),
            SeenState::Recorded(_) => "has changed since it was last read",
            SeenState::Forgotten => "was read in a part of the conversation that has been replaced",
        };
        Err(ToolError::new(format!(
            "{display_path} {problem}; read it again, then repeat the call"
        )))
    }
}
