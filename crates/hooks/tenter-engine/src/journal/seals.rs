//! Seals of journals (M5): the length and the SHA-256 of each file so far, in a chain, so that later changes of what was sealed are
//! found. Writers of records never wait for it. Files that are deleted because of their age or size are part of the chain (M6).
//!
//! The chain is a file beside the directory of journals: one JSON object a line, each with the hash of the line before it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tenter_base::{FileLock, hex, private_dir, rfc3339, untrusted_file};

use super::reader;

/// The version of the format.
const VERSION: u32 = 1;
/// Maximum size of a chain that is read, in bytes.
const MAX_CHAIN: u64 = 1 << 30;
/// Number of bytes that are hashed at once.
const BLOCK: usize = 64 << 10;
/// The length of a day.
const DAY: Duration = Duration::from_hours(24);

/// The limits of the journals on disk: `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Maximum age of a journal since its last record, in days.
    pub keep_days: Option<u32>,
    /// Maximum size of all journals of a directory together, in MiB.
    pub max_mib: Option<u64>,
}

/// One line of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seal {
    /// The version of the format.
    pub v: u32,
    /// RFC 3339 in UTC: when it was sealed.
    pub time: String,
    /// The name of the journal's file.
    pub file: String,
    /// The number of bytes that are sealed, from the start of the file.
    pub length: u64,
    /// The SHA-256 of these bytes.
    pub sha256: String,
    /// The setting because of which the file was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<String>,
    /// The SHA-256 of the line before this one; empty on the first line.
    pub previous: String,
}

/// A difference between the journals and their seals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealFinding {
    /// A line of the chain cannot be read, or does not follow the line before it.
    BrokenChain {
        /// The number of the line, from 1.
        line: usize,
    },
    /// No line of the chain has this hash, which was noted elsewhere.
    LostAnchor {
        /// The hash.
        anchor: String,
    },
    /// A sealed file is gone, and no seal says that it was deleted.
    Missing {
        /// Its name.
        file: String,
    },
    /// A file is shorter than it was when it was sealed.
    Truncated {
        /// Its name.
        file: String,
        /// Its length now.
        length: u64,
        /// Its sealed length.
        sealed: u64,
    },
    /// Sealed bytes were changed: between the end of the last seal that still fits, and this seal.
    Changed {
        /// The name of the file.
        file: String,
        /// The first byte that may have changed.
        from: u64,
        /// The end of the seal.
        to: u64,
    },
}

/// The result of checking journals against their seals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Number of seals.
    pub seals: usize,
    /// Number of sealed files that exist.
    pub files: usize,
    /// Number of bytes that no seal covers.
    pub unsealed: u64,
    /// The hash of the last line of the chain: the anchor to note elsewhere.
    pub head: Option<String>,
    /// Differences.
    pub findings: Vec<SealFinding>,
}

/// The chain of seals of a directory with journals.
#[derive(Debug, Clone)]
pub struct Seals {
    directory: PathBuf,
    chain: PathBuf,
}

impl Seals {
    /// Returns the seals of the journals in `directory`.
    pub fn from_directory(directory: &Path) -> Self {
        let chain = directory.with_extension("seals");
        Self { directory: directory.to_owned(), chain }
    }

    /// Returns the file with the chain.
    pub fn path(&self) -> &Path {
        &self.chain
    }

    /// Seals what was written to the journals since the last seals; only to this conversation's, if one is named. Returns the new seals.
    ///
    /// # Errors
    /// A journal cannot be read, or the chain cannot be written.
    pub fn seal(&self, conversation: Option<&str>, now: Timestamp) -> io::Result<Vec<Seal>> {
        let files = match conversation {
            Some(conversation) => vec![reader::path(&self.directory, conversation)],
            None => self.journals()?.into_iter().map(|(_, _, path)| path).collect(),
        };
        if !self.directory.is_dir() {
            return Ok(Vec::new());
        }
        let mut chain = self.open()?;
        let lengths = chain.last_lengths();
        let mut new = Vec::new();
        for path in files {
            let name = file_name(&path);
            let from = lengths.get(&name).copied().unwrap_or(0);
            let Some(length) = whole_length(&path)?.filter(|length| *length > from) else {
                continue;
            };
            let sha256 = hash(&path, &[length])?.remove(0);
            new.push(chain.append(Seal::new(now, name, length, sha256))?);
        }
        Ok(new)
    }

    /// Deletes journals that are older or larger than they may be, the oldest first. Each deletion is sealed before it happens. Returns
    /// these seals.
    ///
    /// # Errors
    /// A journal cannot be read or deleted, or the chain cannot be written.
    pub fn prune(&self, retention: Retention, now: Timestamp) -> io::Result<Vec<Seal>> {
        if retention == Retention::default() {
            return Ok(Vec::new());
        }
        let mut journals = self.journals()?;
        journals.sort();
        let mut size: u64 = journals.iter().map(|(_, length, _)| length).sum();
        let age = retention.keep_days.map(|days| DAY.saturating_mul(days));
        let oldest = age.and_then(|age| SystemTime::from(now).checked_sub(age));
        let limit = retention.max_mib.map(|mib| mib.saturating_mul(1 << 20));
        let mut deleted_files = Vec::new();
        for (written, length, path) in journals {
            let setting = if oldest.is_some_and(|oldest| written < oldest) {
                "journal.keep_days"
            } else if limit.is_some_and(|limit| size > limit) {
                "journal.max_mib"
            } else {
                continue;
            };
            let sha256 = hash(&path, &[length])?.remove(0);
            let mut seal = Seal::new(now, file_name(&path), length, sha256);
            seal.deleted = Some(setting.to_owned());
            deleted_files.push(self.open()?.append(seal)?);
            fs::remove_file(&path)?;
            size -= length;
        }
        Ok(deleted_files)
    }

    /// Checks the chain, and every journal against it. `anchor` is the hash of a line that was noted elsewhere.
    ///
    /// # Errors
    /// The chain or a journal cannot be read.
    pub fn verify(&self, anchor: Option<&str>) -> io::Result<Verification> {
        let text = match untrusted_file::read(&self.chain, MAX_CHAIN) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut verification = Verification::default();
        let mut by_file: BTreeMap<String, Vec<Seal>> = BTreeMap::new();
        let mut previous = String::new();
        let mut has_anchor = false;
        for (index, line) in text.lines().enumerate() {
            let seal: Option<Seal> = serde_json::from_str(line).ok();
            let follows = seal.as_ref().is_some_and(|seal| seal.previous == previous);
            if !follows {
                verification.findings.push(SealFinding::BrokenChain { line: index + 1 });
            }
            previous = hex(&Sha256::digest(line.as_bytes()));
            has_anchor |= anchor == Some(previous.as_str());
            let Some(seal) = seal else { continue };
            verification.seals += 1;
            by_file.entry(seal.file.clone()).or_default().push(seal);
        }
        verification.head = Some(previous).filter(|head| !head.is_empty());
        if let Some(anchor) = anchor.filter(|_| !has_anchor) {
            let anchor = anchor.to_owned();
            verification.findings.push(SealFinding::LostAnchor { anchor });
        }
        for (file, seals) in &by_file {
            self.verify_file(file, seals, &mut verification)?;
        }
        for (_, length, path) in self.journals()? {
            let last = by_file.get(&file_name(&path)).and_then(|seals| seals.last());
            let sealed_length =
                last.filter(|seal| seal.deleted.is_none()).map_or(0, |seal| seal.length);
            verification.unsealed += length.saturating_sub(sealed_length);
        }
        Ok(verification)
    }

    fn verify_file(
        &self,
        name: &str,
        seals: &[Seal],
        verification: &mut Verification,
    ) -> io::Result<()> {
        // Seals before a deletion apply to a file that is gone.
        let last_deletion = seals.iter().rposition(|seal| seal.deleted.is_some());
        let seals = &seals[last_deletion.map_or(0, |index| index + 1)..];
        let Some(last) = seals.last() else { return Ok(()) };
        let path = self.directory.join(name);
        // A name in the chain is untrusted, too.
        let is_name = Path::new(name).file_name() == Some(name.as_ref());
        let file = name.to_owned();
        let length = match fs::symlink_metadata(&path) {
            Ok(metadata) if is_name && metadata.is_file() => metadata.len(),
            _ => {
                verification.findings.push(SealFinding::Missing { file });
                return Ok(());
            }
        };
        verification.files += 1;
        let sealed_length = seals.iter().map(|seal| seal.length).max().unwrap_or(last.length);
        if length < sealed_length {
            let file = file.clone();
            verification.findings.push(SealFinding::Truncated {
                file,
                length,
                sealed: sealed_length,
            });
        }
        let lengths: Vec<u64> = seals.iter().map(|seal| seal.length.min(length)).collect();
        let hashes = hash(&path, &lengths)?;
        let mut from = 0;
        for (seal, now) in seals.iter().zip(hashes) {
            if seal.length > length {
                break;
            }
            if seal.sha256 != now {
                verification.findings.push(SealFinding::Changed { file, from, to: seal.length });
                break;
            }
            from = seal.length;
        }
        Ok(())
    }

    /// Returns the journals with the time of their last record and their length.
    fn journals(&self) -> io::Result<Vec<(SystemTime, u64, PathBuf)>> {
        let mut journals = Vec::new();
        for (written, conversation) in reader::dated_conversations(&self.directory)? {
            let path = self.directory.join(format!("{conversation}.jsonl"));
            let length = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file);
            journals.extend(length.map(|metadata| (written, metadata.len(), path)));
        }
        journals.sort_by(|(.., one), (.., other)| one.cmp(other));
        Ok(journals)
    }

    fn open(&self) -> io::Result<SealChain> {
        private_dir::create_parent(&self.chain)?;
        let lock = FileLock::acquire(&self.chain.with_extension("seals-lock"))?;
        let mut options = OpenOptions::new();
        options.create(true).read(true).append(true).mode(0o600);
        let mut file = options.open(&self.chain)?;
        let mut text = String::new();
        (&mut file).take(MAX_CHAIN).read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            // A process was killed while it wrote this line.
            file.set_len(whole as u64)?;
            text.truncate(whole);
        }
        Ok(SealChain { file, text, _lock: lock })
    }
}

impl Seal {
    fn new(now: Timestamp, file: String, length: u64, sha256: String) -> Self {
        let (time, previous) = (rfc3339(now), String::new());
        Self { v: VERSION, time, file, length, sha256, deleted: None, previous }
    }
}

/// The chain, while no other process changes it.
struct SealChain {
    file: File,
    text: String,
    _lock: FileLock,
}

impl SealChain {
    /// Returns the sealed length of each file that was not deleted since.
    fn last_lengths(&self) -> BTreeMap<String, u64> {
        let mut lengths = BTreeMap::new();
        for seal in self.text.lines().filter_map(|line| serde_json::from_str::<Seal>(line).ok()) {
            let length = if seal.deleted.is_some() { 0 } else { seal.length };
            lengths.insert(seal.file, length);
        }
        lengths
    }

    fn append(&mut self, seal: Seal) -> io::Result<Seal> {
        let last = self.text.lines().last();
        let previous = last.map(|line| hex(&Sha256::digest(line.as_bytes()))).unwrap_or_default();
        let seal = Seal { previous, ..seal };
        let line = serde_json::to_string(&seal)? + "\n";
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.text.push_str(&line);
        Ok(seal)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the length of the whole lines of a journal; `None` if there is none.
fn whole_length(path: &Path) -> io::Result<Option<u64>> {
    let length = reader::length(path)?;
    if length == 0 {
        return Ok(None);
    }
    let mut file = untrusted_file::open(path)?;
    let mut end = length;
    let mut block = vec![0; BLOCK];
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let part = &mut block[..usize::try_from(end - start).unwrap_or(BLOCK)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(Some(start + at as u64 + 1));
        }
        end = start;
    }
    Ok(None)
}

/// Returns the SHA-256 of the first bytes of a file, for each of these lengths, which must not be longer than the file. Shorter lengths may
/// follow longer ones.
fn hash(path: &Path, lengths: &[u64]) -> io::Result<Vec<String>> {
    let mut ascending: Vec<u64> = lengths.to_vec();
    ascending.sort_unstable();
    ascending.dedup();
    let mut file = untrusted_file::open(path)?;
    let (mut hasher, mut position, mut hashes) = (Sha256::new(), 0, BTreeMap::new());
    for length in ascending {
        let mut part = (&mut file).take(length - position);
        io::copy(&mut part, &mut hasher)?;
        position = length;
        hashes.insert(length, hex(&hasher.clone().finalize()));
    }
    Ok(lengths.iter().filter_map(|length| hashes.get(length).cloned()).collect())
}

#[cfg(test)]
mod tests;
