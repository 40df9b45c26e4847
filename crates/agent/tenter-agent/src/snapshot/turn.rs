//! The records of turns: which files a turn changed, and what they were before and after.

use serde::{Deserialize, Serialize};

use super::state::{FileState, StoredPath};

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnFileChange {
    /// The file, as an absolute path.
    pub path: StoredPath,
    /// Its state before the turn.
    pub before: FileState,
    /// Its state after the turn.
    pub after: FileState,
}

/// A turn that changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct TurnRecord {
    /// Its number in the conversation, from 1. Turns that changed nothing have none.
    pub number: u64,
    /// When it began: RFC 3339.
    pub at: String,
    /// The beginning of the user's message.
    pub message: String,
    /// The changed files, in the order of their paths.
    pub changes: Vec<TurnFileChange>,
    /// The process ended during the turn, so that later changes may be among them.
    pub was_interrupted: bool,
    /// The user undid it.
    pub is_undone: bool,
    /// A later turn changed files, so that it cannot be redone.
    pub(super) is_dropped: bool,
    /// It was undone when the model was last informed.
    pub(super) was_undone_for_model: bool,
}

impl TurnRecord {
    pub(super) fn new(heading: TurnHeading, changes: Vec<TurnFileChange>) -> Self {
        let TurnHeading { number, at, message, .. } = heading;
        Self {
            number,
            at,
            message,
            changes,
            was_interrupted: false,
            is_undone: false,
            is_dropped: false,
            was_undone_for_model: false,
        }
    }

    /// Returns whether the turn was undone or redone since the model was last informed.
    pub(super) fn is_news(&self) -> bool {
        self.is_undone != self.was_undone_for_model
    }
}

/// The description of a turn before it ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TurnHeading {
    pub(super) number: u64,
    pub(super) at: String,
    pub(super) message: String,
    /// When it began to change files, in nanoseconds since 1970.
    pub(super) since_ns: i128,
}

/// A stored turn that has not ended: everything that is needed to end it if the process dies.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OpenTurn {
    pub(super) heading: TurnHeading,
    /// The states of single files before the turn.
    pub(super) touched: Vec<(StoredPath, FileState)>,
    /// The base of the conversation is the state of the project before this turn.
    pub(super) has_base: bool,
}
