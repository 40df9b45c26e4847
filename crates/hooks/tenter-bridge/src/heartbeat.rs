//! The time of each host's last event: the modification time of an empty file (B29).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Host;

/// Records that a host has an event. Nothing is recorded on a machine without a registration.
pub(crate) fn note(state: &Path, host: &Host, now: SystemTime) {
    let beat = || -> io::Result<()> {
        let file = file(state, host);
        let file = File::options().write(true).create(true).truncate(false).open(file)?;
        file.set_modified(now)
    };
    // The time is for listings only: no answer depends on it.
    let _ = beat();
}

/// Returns the time of the host's last event; `None` if it had none. `state` is the user's directory of Tenter's state.
pub fn last_event(state: &Path, host: &Host) -> Option<SystemTime> {
    fs::metadata(file(state, host)).and_then(|metadata| metadata.modified()).ok()
}

/// Returns the file, in the directory of the record of registrations, which an installation creates.
fn file(state: &Path, host: &Host) -> PathBuf {
    state.join("bridge").join(format!("last-event-{}", host.id))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::hosts;

    #[test]
    fn the_last_event_is_noted_once_something_is_registered() {
        let state = tempfile::tempdir().unwrap();
        let host = hosts::ALL[0];
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000);
        note(state.path(), host, time);
        assert_eq!(last_event(state.path(), host), None);
        fs::create_dir(state.path().join("bridge")).unwrap();
        note(state.path(), host, time);
        note(state.path(), host, time + Duration::from_secs(1));
        assert_eq!(last_event(state.path(), host), Some(time + Duration::from_secs(1)));
    }
}
