//! Our entries in the text of a host's file, whatever its layout.

use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::entry::{Created, EventHandler, Handler, Installed};
use super::{json, toml};
use crate::host::{EntryFormat, Layout};

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
