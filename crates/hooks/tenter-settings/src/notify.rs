//! The table `[notify]`: how the user learns that an agent asks something, or is done. Only the user's file sets it.

use std::time::Duration;

use serde::Deserialize;
use tenter_terminal::notify::{Method, NotifySettings};

/// Default minimum duration of work whose end is notified.
const AFTER: Duration = Duration::from_secs(30);

/// `[notify]`.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NotifyTable {
    method: Option<Method>,
    after_s: Option<u64>,
}

impl From<NotifyTable> for NotifySettings {
    fn from(table: NotifyTable) -> Self {
        Self {
            method: table.method.unwrap_or(Method::Bell),
            after: table.after_s.map_or(AFTER, Duration::from_secs),
        }
    }
}
