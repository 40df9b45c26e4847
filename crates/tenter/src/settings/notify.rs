//! The table `[notify]`: how the user learns that an agent asks something, or is done. Only the user's file sets it.

use std::time::Duration;

use serde::Deserialize;

/// Default minimum duration of work whose end is notified.
const AFTER: Duration = Duration::from_secs(30);

/// `[notify]`.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NotifyTable {
    method: Option<Method>,
    after_s: Option<u64>,
}

/// How the user is notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// Not at all.
    Off,
    /// The terminal's bell.
    Bell,
    /// A notification of the desktop, which the terminal shows.
    Desktop,
}

/// The settings of notifications.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotifySettings {
    /// How the user is notified.
    pub(crate) method: Method,
    /// Minimum duration of work whose end is notified.
    pub(crate) after: Duration,
}

impl From<NotifyTable> for NotifySettings {
    fn from(table: NotifyTable) -> Self {
        Self {
            method: table.method.unwrap_or(Method::Bell),
            after: table.after_s.map_or(AFTER, Duration::from_secs),
        }
    }
}
