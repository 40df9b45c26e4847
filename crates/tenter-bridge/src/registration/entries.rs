//! Our entries in the text of a host's file, whatever its layout.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::format::{EntryFormat, Layout};
use super::{json, toml};

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

impl EntryFormat {
    /// Returns the handlers in `text` that `is_ours` accepts, in order.
    ///
    /// # Errors
    /// The text is not valid; the diagnostic has the position.
    pub(super) fn find(
        &self,
        text: &str,
        is_ours: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Handler>, Diagnostic> {
        match self.layout {
            Layout::TomlTables { event } => toml::find(text, event, is_ours),
            _ => json::find(text, self.shape(), is_ours),
        }
    }

    /// Appends these handlers to their events.
    ///
    /// # Errors
    /// The text is not valid; the diagnostic has the position.
    pub(super) fn install(
        &self,
        text: &str,
        handlers: &[EventHandler],
    ) -> Result<Installed, Diagnostic> {
        match self.layout {
            Layout::TomlTables { event } => toml::install(text, event, handlers),
            _ => json::install(text, self.shape(), handlers),
        }
    }

    /// Removes the handlers that `is_ours` accepts, with everything that is empty then and that the installation created.
    ///
    /// # Errors
    /// The text is not valid; the diagnostic has the position.
    pub(super) fn remove(
        &self,
        text: &str,
        is_ours: impl Fn(&Value) -> bool,
        created: &Created,
    ) -> Result<String, Diagnostic> {
        match self.layout {
            Layout::TomlTables { .. } => toml::remove(text, is_ours),
            _ => json::remove(text, self.shape(), is_ours, created),
        }
    }

    fn shape(&self) -> json::Shape {
        json::Shape { groups: self.layout == Layout::JsonGroups, root: self.root }
    }
}
