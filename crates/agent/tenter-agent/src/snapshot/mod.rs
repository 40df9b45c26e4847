//! What files were before each turn of a conversation, so that the user can undo what the agent did.
//!
//! A turn is a user's message with all the work on it. `recorder` records what files were before a turn changes them, and what
//! it changed; `restore` undoes and redoes turns. `state` is what a file is, `objects` keeps contents, `survey` is the state of
//! all files of a project, `turn` the records on disk, `beneath` reaches files without following symlinks, and `prune` removes
//! what is old.
//!
//! Everything is kept outside of the project, in a directory that only the user can enter.

mod beneath;
mod objects;
mod prune;
mod recorder;
mod restore;
mod state;
mod survey;
#[cfg(test)]
mod tests;
mod turn;

pub use prune::forget;
pub use recorder::{Recorder, RecorderSettings};
pub use restore::{Direction, RestorePlan, RestoreResult, RestoreStep, Standing};
pub use state::{FileState, StoredPath, UnknownReason};
pub use turn::{FileChange, TurnRecord};
