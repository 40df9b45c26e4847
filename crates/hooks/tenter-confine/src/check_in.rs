//! The note that a launcher leaves when it starts a command: without one, the call ran unconfined (F13).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use tenter_base::untrusted_file;
use tenter_protocol::confinement::ConfinedFact;

/// Maximum size of a note, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// A note that is open: it can be written after its directory has become read-only for this process.
#[derive(Debug)]
pub struct CheckIn(File);

impl CheckIn {
    /// Creates the note at `path`.
    ///
    /// # Errors
    /// It cannot be created, or exists: a note belongs to one call.
    pub fn create(path: &Path) -> io::Result<Self> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(Self)
    }

    /// Writes what was kept.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, fact: &ConfinedFact) -> io::Result<()> {
        self.0.write_all(&serde_json::to_vec(fact)?)
    }

    /// Takes the note at `path`: reads and removes it. `None` if the launcher did not start.
    pub fn take(path: &Path) -> Option<ConfinedFact> {
        let bytes = untrusted_file::read(path, MAX_BYTES).ok()?;
        let _ = fs::remove_file(path);
        serde_json::from_slice(&bytes).ok()
    }
}
