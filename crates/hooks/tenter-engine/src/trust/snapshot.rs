//! The content that a hook's trust covers, as it is shown to the user before it is trusted.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tenter_base::{FileStamp, hex, untrusted_file};

use super::fingerprint::{Covered, CoveredStamp, Hashed, combine, digest, size};
use super::hasher::{Fingerprint, Hasher, changed, check_size};
use crate::hook_stamp::HookStamp;

/// Maximum size of a file whose content is in a [`Snapshot`], in bytes.
pub const MAX_SHOWN_BYTES: u64 = 1 << 20;

/// A hook's covered files with their content, and the fingerprint of exactly this content: what is shown to the user is
/// what is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The executable's file, or every file of the manifest hook's directory.
    pub own: Vec<CoveredFile>,
    /// The files beside it.
    pub beside: Vec<CoveredFile>,
}

/// One file of a [`Snapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredFile {
    /// Its path.
    pub path: PathBuf,
    /// The SHA-256 of its content.
    pub hash: Fingerprint,
    /// True if its owner may execute it.
    pub is_executable: bool,
    /// Its content; `None` if it is larger than [`MAX_SHOWN_BYTES`].
    pub content: Option<Vec<u8>>,
}

impl Snapshot {
    /// Reads everything that is covered.
    ///
    /// # Errors
    /// As [`fingerprint`](super::fingerprint).
    pub fn read(covered: &Covered, hasher: &Hasher) -> io::Result<Self> {
        let Covered { path, beside: around, setting } = covered;
        let CoveredStamp { own, beside } = CoveredStamp::read(covered)?;
        let (own, fingerprint) = match own {
            HookStamp::File(stamp) => {
                let file = covered_file(path.clone(), stamp, hasher)?;
                let fingerprint = file.hash.clone();
                (vec![file], fingerprint)
            }
            HookStamp::Directory(files) => {
                check_size(size(&files))?;
                let own = covered_files(path, &files, hasher)?;
                let fingerprint = digest(&hash_files(&own, &files));
                (own, fingerprint)
            }
        };
        let directory = around.directory().unwrap_or(Path::new(""));
        let files = covered_files(directory, &beside, hasher)?;
        let hash = (!files.is_empty()).then(|| around.digest(hash_files(&files, &beside)));
        let fingerprint = combine(fingerprint, hash.as_ref(), *setting);
        Ok(Self { fingerprint, own, beside: files })
    }
}

fn covered_files(
    directory: &Path,
    files: &[(PathBuf, FileStamp)],
    hasher: &Hasher,
) -> io::Result<Vec<CoveredFile>> {
    files.iter().map(|(name, stamp)| covered_file(directory.join(name), *stamp, hasher)).collect()
}

fn covered_file(path: PathBuf, stamp: FileStamp, hasher: &Hasher) -> io::Result<CoveredFile> {
    let is_executable = stamp.is_executable();
    if stamp.size() > MAX_SHOWN_BYTES {
        let (hash, _) = hasher.file(&path)?;
        return Ok(CoveredFile { path, hash, is_executable, content: None });
    }
    let content = untrusted_file::read_prefix(&path, MAX_SHOWN_BYTES + 1)?;
    if content.len() as u64 != stamp.size() {
        return Err(changed());
    }
    let hash = Fingerprint(hex(&Sha256::digest(&content)));
    Ok(CoveredFile { path, hash, is_executable, content: Some(content) })
}

/// Returns the hashed files of a fingerprint, by their names in the directory.
fn hash_files(files: &[CoveredFile], names: &[(PathBuf, FileStamp)]) -> Vec<Hashed> {
    let pair = |(file, (name, _)): (&CoveredFile, &(PathBuf, FileStamp))| Hashed {
        name: name.clone(),
        is_executable: file.is_executable,
        content: file.hash.clone(),
    };
    files.iter().zip(names).map(pair).collect()
}
