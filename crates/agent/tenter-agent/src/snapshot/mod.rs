//! Undo for what the agent changed: the states of files before and after each turn of a conversation.
//!
//! A turn is a user's message with all the work on it. `recorder` records what files were before a turn changes them, and what
//! it changed; `restore` undoes and redoes turns. `state` describes a file at one moment, `survey` all files of a project, and
//! `turn` the changes of a turn. `database` stores contents and records, and deletes old ones; `beneath` reaches files without
//! following symlinks.
//!
//! The database is outside of the project, in a directory that only the user can enter.

mod beneath;
mod database;
mod recorder;
mod restore;
mod state;
mod survey;
#[cfg(test)]
mod tests;
mod turn;

pub use database::forget;
pub use recorder::{Recorder, RecorderSettings};
pub use restore::{Direction, RestorePlan, RestoreResult, RestoreStep, StepStatus};
pub use state::{FileState, StoredPath, UnknownReason};
pub use turn::{TurnFileChange, TurnRecord};
