//! The handlers in a settings file, and the parts that an installation creates.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenter_protocol::{Diagnostic, Severity, SourceText};

/// A native event and its handler.
pub(super) type EventHandler = (&'static str, Value);

/// A handler in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Handler {
    /// The native event.
    pub(super) event: String,
    /// The index of its group in the event's array.
    pub(super) group: usize,
    /// Its index in the group.
    pub(super) index: usize,
    /// The handler itself.
    pub(super) value: Value,
    /// True if it runs at every event, because its group has no matcher.
    pub(super) is_unconditional: bool,
}

/// The parts of a file that an installation created besides its handlers.
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
    /// The parts that were created.
    pub(super) created: Created,
}

/// Returns the error that a text cannot be used, with its position.
pub(super) fn invalid(text: &str, range: &Range<usize>, message: String) -> Diagnostic {
    let span = SourceText::new(text.as_bytes()).span(range);
    Diagnostic::new("registration-invalid-file", Severity::Error, message).with_span(span)
}
