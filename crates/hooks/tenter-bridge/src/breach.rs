//! Breaches: calls that a host ran although a hook had denied them (B30). The last one of each host is kept for listings, in the words
//! of `tenter bridge prove`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::{replace_file, untrusted_file};

use crate::Host;

/// The promise that a breach breaks.
pub const PROMISE: &str = "a deny denies, the model reads why";

/// Maximum size of a record, in bytes.
const MAX_SIZE: u64 = 64 << 10;

/// A call that ran although a hook had denied it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    /// The time at which it was noticed, in RFC 3339.
    pub at: String,
    /// The host's name of the tool.
    pub tool: String,
    /// The host's id of the session.
    pub session: String,
}

impl Breach {
    /// Describes the breach in a sentence without its full stop.
    pub fn describe(&self, host: &Host) -> String {
        format!(
            "BROKEN: {PROMISE}: {} ran a call of {} that a hook had denied",
            host.name, self.tool
        )
    }
}

/// Keeps a breach as the last one of the host. `state` is the user's directory of Tenter's state.
pub(crate) fn keep(state: &Path, host: &Host, breach: &Breach) {
    let text = serde_json::to_string(breach).unwrap_or_default();
    // The record is for listings only: the user is notified, and the journal has it.
    let _ = replace_file::replace(&file(state, host), text.as_bytes());
}

/// Returns the last breach of a host; `None` if there was none.
pub fn last(state: &Path, host: &Host) -> Option<Breach> {
    let bytes = untrusted_file::read_prefix(&file(state, host), MAX_SIZE).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn file(state: &Path, host: &Host) -> PathBuf {
    state.join("bridge").join(format!("last-breach-{}.json", host.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts;

    #[test]
    fn the_last_breach_of_each_host_is_kept() {
        let state = tempfile::tempdir().unwrap();
        let [first, second] = [hosts::ALL[0], hosts::ALL[1]];
        let breach = |at: &str| Breach { at: at.into(), tool: "Bash".into(), session: "s".into() };
        assert_eq!(last(state.path(), first), None);
        keep(state.path(), first, &breach("1"));
        keep(state.path(), first, &breach("2"));
        assert_eq!(last(state.path(), first), Some(breach("2")));
        assert_eq!(last(state.path(), second), None);
        std::fs::write(file(state.path(), first), "{").unwrap();
        assert_eq!(last(state.path(), first), None);
    }
}
