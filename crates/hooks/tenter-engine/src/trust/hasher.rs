//! Hashes the files of hooks: each file once, up to a limit, until it is cancelled (R79).

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenter_base::{FileStamp, hex, untrusted_file};
use tenter_proc::Cancel;

/// SHA-256 over everything that a hook's trust covers, in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

/// Maximum size of everything that one hook consists of, in bytes.
pub const MAX_HOOK_BYTES: u64 = 256 << 20;
/// Maximum size of all hooks of a project that are hashed at one load, in bytes.
pub const MAX_LOAD_BYTES: u64 = 1 << 30;

/// Bytes read at once: a cancellation takes effect within the time to hash them.
const PIECE: usize = 256 * 1024;

/// The hash of one file: the first user computes it, the others wait.
type SharedHash = Arc<Mutex<Option<Fingerprint>>>;

/// Hashes files. A hash is reused as long as the file's stamp stays the same.
pub struct Hasher<'a> {
    cancel: &'a Cancel,
    budget: AtomicU64,
    hashes: Mutex<HashMap<FileStamp, SharedHash>>,
}

impl<'a> Hasher<'a> {
    /// Creates a hasher that reads at most `bytes` bytes.
    pub fn new(bytes: u64, cancel: &'a Cancel) -> Self {
        Self { cancel, budget: AtomicU64::new(bytes), hashes: Mutex::default() }
    }

    /// Returns the SHA-256 of the file at `path`, and its stamp from before and after it was read.
    ///
    /// # Errors
    /// The file cannot be read, is not a regular file, was changed or replaced meanwhile, or is too large; or the
    /// operation was cancelled.
    pub(super) fn file(&self, path: &Path) -> io::Result<(Fingerprint, FileStamp)> {
        let file = untrusted_file::open(path)?;
        let stamp = FileStamp::new(&file.metadata()?);
        let shared = {
            let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(hashes.entry(stamp).or_default())
        };
        let mut hash = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = match &*hash {
            Some(hash) => hash.clone(),
            None => hash.insert(self.content(file, stamp.size())?).clone(),
        };
        if FileStamp::new(&fs::metadata(path)?) != stamp {
            return Err(changed());
        }
        Ok((hash, stamp))
    }

    /// Returns the SHA-256 of the content of `file`, which should have `size` bytes.
    fn content(&self, file: fs::File, size: u64) -> io::Result<Fingerprint> {
        check_size(size)?;
        let take = |budget: u64| budget.checked_sub(size);
        if self.budget.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_err() {
            let why = format!("the project's hooks have more than {}", in_words(MAX_LOAD_BYTES));
            return Err(io::Error::new(ErrorKind::FileTooLarge, why));
        }
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; PIECE];
        // One byte more shows that the file grew.
        let mut file = file.take(size + 1);
        let mut length = 0;
        loop {
            if self.cancel.is_cancelled() {
                return Err(io::Error::other("loading was cancelled"));
            }
            match file.read(&mut buffer) {
                Ok(0) if length == size => return Ok(Fingerprint(hex(&hasher.finalize()))),
                Ok(0) => return Err(changed()),
                Ok(count) => {
                    hasher.update(&buffer[..count]);
                    length += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns an error for a file that is too large for a hook.
pub(super) fn check_size(bytes: u64) -> io::Result<()> {
    if bytes <= MAX_HOOK_BYTES {
        return Ok(());
    }
    let why = format!("it is too large for a hook: more than {}", in_words(MAX_HOOK_BYTES));
    Err(io::Error::new(ErrorKind::FileTooLarge, why))
}

pub(super) fn changed() -> io::Error {
    io::Error::other("it was changed while it was read")
}

fn in_words(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_to_one_file_are_hashed_once() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        fs::write(path("large"), vec![7; 1000]).unwrap();
        for index in 0..31 {
            symlink("large", path(&index.to_string())).unwrap();
        }
        fs::hard_link(path("large"), path("hard")).unwrap();
        let cancel = Cancel::new();
        // Enough to read it once, but not twice.
        let hasher = Hasher::new(1500, &cancel);
        let first = hasher.file(&path("large")).unwrap().0;
        for index in 0..31 {
            assert_eq!(hasher.file(&path(&index.to_string())).unwrap().0, first);
        }
        assert_eq!(hasher.file(&path("hard")).unwrap().0, first);
        fs::write(path("other"), vec![8; 1000]).unwrap();
        let why = hasher.file(&path("other")).unwrap_err().to_string();
        assert!(why.contains("more than 1024 MiB"), "{why}");
    }

    #[test]
    fn a_file_that_is_too_large_for_a_hook_is_not_read() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("hook");
        // It is sparse, and would be read as zeros for days.
        File::create(&path).unwrap().set_len(1 << 43).unwrap();
        let why = Hasher::new(u64::MAX, &Cancel::new()).file(&path).unwrap_err().to_string();
        assert!(why.contains("more than 256 MiB"), "{why}");
    }

    #[test]
    fn hashing_stops_when_it_is_cancelled() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("hook");
        fs::write(&path, "content").unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        let why = Hasher::new(u64::MAX, &cancel).file(&path).unwrap_err().to_string();
        assert!(why.contains("cancelled"), "{why}");
    }
}
