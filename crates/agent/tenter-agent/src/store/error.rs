//! Errors of the store, with messages for the user.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// An error of the store. In every case, nothing was changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The directory or file could not be created.
    #[error("cannot create {}: {source}", path.display())]
    Create {
        /// The directory or file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a database of Tenter, so it was not changed; move it away, or name another file", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// The file is read-only.
    #[error("{} cannot be written, so no conversation can be saved; check the permissions of the file and its directory", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A newer version wrote the file.
    #[error("{} was written by a newer version (format {format}, this version supports {max}); update to open it", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format version of the file.
        format: usize,
        /// The newest format version that is supported.
        max: usize,
    },
    /// SQLite failed.
    #[error("the database {}: {source}; {}", path.display(), advice(source))]
    Database {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// Another process saved in the meantime.
    #[error(
        "the conversation {id} was changed by another process: its next message is number {next}, not {expected}; \
         resume it again to continue from there"
    )]
    ChangedElsewhere {
        /// The conversation.
        id: String,
        /// The sequence number that the caller expected.
        expected: u64,
        /// The actual one.
        next: u64,
    },
    /// Another process deleted it in the meantime.
    #[error(
        "the conversation {id} was deleted by another process, so nothing more of it can be saved; start a new one"
    )]
    Deleted {
        /// The conversation.
        id: String,
    },
    /// There is no such conversation.
    #[error("there is no conversation {prefix:?}{}", similar(near))]
    NotFound {
        /// The id, or a prefix of one.
        prefix: String,
        /// Ids that contain `prefix` elsewhere, the latest first.
        near: Vec<String>,
    },
    /// Several ids have this prefix.
    #[error("several conversations begin with {prefix:?}: {}; give more of the id", ids.join(", "))]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// Ids with the prefix, the latest first; not all if there are many.
        ids: Vec<String>,
    },
    /// An entry cannot be read: it was edited by hand, or written by a newer version.
    #[error(
        "message {sequence} of the conversation {id} cannot be read ({detail}); a newer version may have written it"
    )]
    Unreadable {
        /// The conversation.
        id: String,
        /// The message's sequence number.
        sequence: u64,
        /// The problem with it.
        detail: String,
    },
    /// The entries could not be resumed from, and were therefore not saved.
    #[error(
        "the conversation {id} was not saved, because it could not be resumed afterwards: {detail}"
    )]
    NotResumable {
        /// The conversation.
        id: String,
        /// The problem with them.
        detail: String,
    },
    /// A model could not continue from the copied part.
    #[error("the conversation {id} cannot be forked there: {detail}")]
    NoFork {
        /// The conversation.
        id: String,
        /// The problem with it.
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
    /// The earlier history does not exist.
    #[error(
        "the conversation {id} has no earlier history {epoch}: those before the current one are 0 to {}", present - 1
    )]
    NoSuchEpoch {
        /// The conversation.
        id: String,
        /// The requested epoch.
        epoch: u64,
        /// The current epoch, at least 1.
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
        // SQLite reports a full disk this way if the shared-memory file cannot grow.
        Some(ErrorCode::SystemIoFailure) => {
            "check that the disk has space left and is sound, and try again"
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            "the file is damaged: `sqlite3 FILE .recover` may save what is in it"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            "check the permissions of the file and its directory"
        }
        _ => "nothing was changed",
    }
}

/// A failure inside a transaction, where the file's path is not known.
#[derive(Debug, Error)]
#[error(transparent)]
pub(super) enum StoreFault {
    Sqlite(#[from] rusqlite::Error),
    Store(#[from] StoreError),
}

impl StoreFault {
    /// Adds the path of the database.
    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sqlite(source) if source.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
                StoreError::NotAStore { path: path.to_owned() }
            }
            Self::Sqlite(source) => StoreError::Database { path: path.to_owned(), source },
        }
    }

    /// Returns whether another connection holds a lock, so that a retry may help.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(source) if source.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }
}
