//! Which files the agent has seen, and as what: so that it never overwrites what somebody else has written since.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use tenter_engine::stamp::FileStamp;

use super::ToolError;

/// The files that this agent has read or written, each as it then was.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles(HashMap<PathBuf, FileStamp>);

impl SeenFiles {
    /// Remembers what a file looks like.
    pub(crate) fn record(&mut self, path: PathBuf, stamp: FileStamp) {
        self.0.insert(path, stamp);
    }

    /// Refuses a file that has changed since it was seen. One that was never seen, or that is gone, has nothing to lose.
    pub(crate) fn refuse_changed(&self, path: &Path, shown: &str) -> Result<(), ToolError> {
        let (Some(then), Ok(now)) = (self.0.get(path), fs::symlink_metadata(path)) else {
            return Ok(());
        };
        if *then == FileStamp::new(&now) {
            return Ok(());
        }
        Err(ToolError::new(format!(
            "{shown} has changed since it was last read; read it again, then repeat the call"
        )))
    }
}
