//! File stamps: the metadata that tells whether a file changed.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hex;

/// The time for which a file must have been unchanged. Some file systems have times of two seconds: a file that changed a moment ago could
/// change again without a difference.
const SETTLED: Duration = Duration::from_secs(2);

/// The metadata of a file that tells whether its content changed (R11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    modified_ns: i128,
    changed_ns: i128,
}

impl FileStamp {
    /// Returns the stamp in `metadata`.
    pub fn new(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            mode: metadata.mode(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Returns true if the owner can execute the file.
    pub fn is_executable(self) -> bool {
        self.mode & 0o100 != 0
    }

    /// Returns when the file or its metadata last changed, in nanoseconds since 1970. Programs cannot set this time.
    pub fn changed_ns(self) -> i128 {
        self.changed_ns
    }

    /// Returns the time since the file or its metadata changed, by the clock that file systems of this machine use;
    /// negative if the change is in the future.
    pub fn age_ns(self) -> i128 {
        now_ns() - self.changed_ns
    }

    /// Returns whether the file was unchanged for so long at `time`, in nanoseconds since 1970, that every later change gives another stamp.
    pub fn is_settled_at(self, time: i128) -> bool {
        self.changed_ns < time - SETTLED.as_nanos().cast_signed()
    }

    /// Returns the kind and the permissions of the file, as the system has them.
    pub(crate) fn mode(self) -> u32 {
        self.mode
    }

    /// Returns the size of the file in bytes.
    pub fn size(self) -> u64 {
        self.size
    }
}

/// Returns the time by the clock that file systems of this machine use, in nanoseconds since 1970.
pub fn now_ns() -> i128 {
    let now = clock_gettime(ClockId::Realtime);
    nanoseconds(now.tv_sec, now.tv_nsec)
}

fn nanoseconds(seconds: i64, rest: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// Returns the SHA-256 of the names and stamps of files.
pub fn digest(files: &[(PathBuf, FileStamp)]) -> String {
    let mut bytes = Vec::with_capacity(files.len() * 128);
    for (name, stamp) in files {
        let name = name.as_os_str().as_encoded_bytes();
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name);
        for number in [stamp.device, stamp.inode, stamp.size, u64::from(stamp.mode)] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(stamp.modified_ns.to_le_bytes());
        bytes.extend(stamp.changed_ns.to_le_bytes());
    }
    hex(&Sha256::digest(&bytes))
}
