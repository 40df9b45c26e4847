//! One of our entries in a file, and what an installation leaves there.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A native event and its handler.
pub(super) type EventHandler = (&'static str, Value);

/// A handler in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Handler {
    /// The native event.
    pub(super) event: String,
    /// The index of its group among those of the event.
    pub(super) group: usize,
    /// Its index in the group.
    pub(super) index: usize,
    /// The handler itself.
    pub(super) value: Value,
    /// Whether it runs at every event: its group has no matcher.
    pub(super) is_unconditional: bool,
}

/// What an installation created besides its handlers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Created {
    /// The outermost object.
    pub(super) root: bool,
    /// The object of the events.
    pub(super) hooks: bool,
    /// The arrays of these events.
    pub(super) events: Vec<String>,
    /// These members of the outermost object.
    #[serde(default)]
    pub(super) members: Vec<String>,
}

/// A text after an installation.
#[derive(Debug)]
pub(super) struct Installed {
    /// The text.
    pub(super) text: String,
    /// Start and end of everything that was inserted, in bytes.
    pub(super) inserted: Vec<(usize, usize)>,
    /// What was created.
    pub(super) created: Created,
}
