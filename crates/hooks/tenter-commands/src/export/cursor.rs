//! The cursor of an export: how far a collector has acknowledged each journal. It is replaced atomically after each acknowledged batch.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tenter_base::{FileLock, hex, private_dir, replace_file, untrusted_file};

/// Maximum size of a cursor, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The acknowledged lengths of all files, by path.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Acknowledged {
    endpoint: String,
    files: BTreeMap<PathBuf, u64>,
}

/// The cursor of the export to one endpoint. Only one process has it at a time.
#[derive(Debug)]
pub(super) struct Cursor {
    path: PathBuf,
    acknowledged: Acknowledged,
    _lock: FileLock,
}

impl Cursor {
    /// Opens the cursor for `endpoint`; `None` if another process exports to it.
    ///
    /// # Errors
    /// The cursor cannot be read.
    pub(super) fn open(state: &Path, endpoint: &str) -> io::Result<Option<Self>> {
        let name = hex(&Sha256::digest(endpoint.as_bytes())[..16]);
        let path = state.join("export").join(format!("{name}.json"));
        private_dir::create_parent(&path)?;
        let Some(lock) = FileLock::try_acquire(&path.with_extension("lock"))? else {
            return Ok(None);
        };
        let mut acknowledged: Acknowledged = match untrusted_file::read(&path, MAX_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(error) if error.kind() == ErrorKind::NotFound => Acknowledged::default(),
            Err(error) => return Err(error),
        };
        endpoint.clone_into(&mut acknowledged.endpoint);
        Ok(Some(Self { path, acknowledged, _lock: lock }))
    }

    /// Returns how many bytes of a file were acknowledged.
    pub(super) fn position(&self, file: &Path) -> u64 {
        self.acknowledged.files.get(file).copied().unwrap_or(0)
    }

    /// Notes that these files were acknowledged up to these positions.
    ///
    /// # Errors
    /// The cursor cannot be written: what was acknowledged will be sent again.
    pub(super) fn advance(
        &mut self,
        positions: impl IntoIterator<Item = (PathBuf, u64)>,
    ) -> io::Result<()> {
        self.acknowledged.files.extend(positions);
        self.acknowledged.files.retain(|file, _| file.exists());
        replace_file::replace(&self.path, &serde_json::to_vec(&self.acknowledged)?)
    }
}
