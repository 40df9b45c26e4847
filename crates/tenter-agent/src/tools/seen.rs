//! Which files an agent has seen in a conversation, and as what: so that it never overwrites what somebody else has written since.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use tenter_base::FileStamp;

use super::ToolError;

/// The files that the agent has read or written, each as it then was.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles(HashMap<PathBuf, Seen>);

#[derive(Debug)]
enum Seen {
    /// As it then was.
    As(FileStamp),
    /// In a history that is no longer there: the model does not know any more what was in it.
    Forgotten,
}

impl SeenFiles {
    /// Remembers what a file looks like.
    pub(crate) fn record(&mut self, path: PathBuf, stamp: FileStamp) {
        self.0.insert(path, Seen::As(stamp));
    }

    /// Has every file read again before it is changed.
    pub(crate) fn forget(&mut self) {
        self.0.values_mut().for_each(|seen| *seen = Seen::Forgotten);
    }

    /// Refuses a file that has changed since it was seen. One that was never seen, or that is gone, has nothing to lose.
    pub(crate) fn refuse_changed(&self, path: &Path, shown: &str) -> Result<(), ToolError> {
        let (Some(then), Ok(now)) = (self.0.get(path), fs::symlink_metadata(path)) else {
            return Ok(());
        };
        let problem = match then {
            Seen::As(stamp) if *stamp == FileStamp::new(&now) => return Ok(()),
            Seen::As(_) => "has changed since it was last read",
            Seen::Forgotten => "was read in a part of the conversation that is no longer there",
        };
        Err(ToolError::new(format!("{shown} {problem}; read it again, then repeat the call")))
    }
}
