//! What can go wrong with the store, in words for the person at the terminal.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// Why the store did not do what it was asked. Whatever it was, nothing was changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder or file could not be made.
    #[error("cannot make {} for the conversations: {source}", path.display())]
    Create {
        /// The folder or file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{} is not a conversation store, so it is left as it is; move it away, or name another file", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// The file may be read, not written.
    #[error("{} cannot be written, so no conversation can be saved; check the permissions of the file and its folder", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A newer version wrote the file.
    #[error("{} was written by a newer version (format {found}, this version knows {known}); update to open it", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format's number in the file.
        found: usize,
        /// The newest format that this version knows.
        known: usize,
    },
    /// SQLite failed.
    #[error("the conversation store {}: {source}; {}", path.display(), advice(source))]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Somebody else saved in the meantime.
    #[error(
        "the conversation {id} was changed by another process: its next message is number {found}, not {expected}; \
         resume it again to go on from there"
    )]
    ChangedElsewhere {
        /// The conversation.
        id: String,
        /// What the caller took for the next sequence number.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// Somebody else deleted it in the meantime.
    #[error(
        "the conversation {id} was deleted by another process, so nothing more of it can be saved; begin a new one"
    )]
    Deleted {
        /// The conversation.
        id: String,
    },
    /// There is no such conversation.
    #[error("there is no conversation {wanted:?}{}", similar(near))]
    NotFound {
        /// The id, or the beginning of one.
        wanted: String,
        /// Ids that hold `wanted` further on, the latest first.
        near: Vec<String>,
    },
    /// Several ids begin that way.
    #[error("several conversations begin with {prefix:?}: {}; give more of the id", ids.join(", "))]
    Ambiguous {
        /// The beginning.
        prefix: String,
        /// Ids that begin so, the latest first; not all where there are many.
        ids: Vec<String>,
    },
    /// An entry cannot be read: it was changed by hand, or written by a newer version.
    #[error(
        "message {sequence} of the conversation {id} cannot be read ({detail}); a newer version may have written it"
    )]
    Unreadable {
        /// The conversation.
        id: String,
        /// The message's sequence number.
        sequence: u64,
        /// What is wrong with it.
        detail: String,
    },
    /// What was to be saved could not be resumed from, and was therefore not saved.
    #[error(
        "the conversation {id} was not saved, because it could not be resumed afterwards: {detail}"
    )]
    NotResumable {
        /// The conversation.
        id: String,
        /// What is wrong with what was to be saved.
        detail: String,
    },
    /// A model could not go on from the part that was to be copied.
    #[error("the conversation {id} cannot be forked there: {detail}")]
    NoFork {
        /// The conversation.
        id: String,
        /// What is wrong with the part.
        detail: String,
    },
    /// There is no earlier history.
    #[error(
        "the history of the conversation {id} was never replaced, so there is nothing to restore"
    )]
    NeverReplaced {
        /// The conversation.
        id: String,
    },
    /// There is no such earlier history.
    #[error(
        "the conversation {id} has no earlier history {wanted}: those before the present one are 0 to {}", present - 1
    )]
    NoSuchEpoch {
        /// The conversation.
        id: String,
        /// The epoch that was asked for.
        wanted: u64,
        /// The present epoch, at least 1.
        present: u64,
    },
}

fn similar(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; similar: {}", near.join(", ")) }
}

fn advice(source: &rusqlite::Error) -> &'static str {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "other processes kept it busy; try again"
        }
        Some(ErrorCode::DiskFull) => "make room on the disk and try again",
        // A full disk is told so too, where it is the file for what processes share that cannot grow.
        Some(ErrorCode::SystemIoFailure) => {
            "check that the disk has space left and is sound, and try again"
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            "the file is damaged: `sqlite3 FILE .recover` may save what is in it"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            "check the permissions of the file and its folder"
        }
        _ => "nothing was changed",
    }
}

/// A failure inside a transaction, where nobody knows the file's path.
#[derive(Debug)]
pub(super) enum Fault {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl Fault {
    /// The same failure, of the database at `path`.
    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sqlite(source) if source.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
                StoreError::NotAStore { path: path.to_owned() }
            }
            Self::Sqlite(source) => StoreError::Database { path: path.to_owned(), source },
        }
    }

    /// Whether another connection stood in the way, so that trying again may help.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(source) if source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite(source)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
