//! The lines that are exported: of the journals, and of their seals.

use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tenter_base::{hex, untrusted_file};
use tenter_engine::journal::{JournalDirectories, Record, Seal, Seals};

use super::cursor::Cursor;

/// Maximum number of records in a batch.
const MAX_RECORDS: usize = 512;
/// Maximum size of the lines of a batch, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Number of hexadecimal digits of an id.
const ID_DIGITS: usize = 32;

/// The content of a line.
#[derive(Debug)]
pub(super) enum Content {
    Record(Box<Record>),
    Seal(Seal),
}

/// A line that is exported.
#[derive(Debug)]
pub(super) struct ExportedLine {
    /// The id, which is the same whenever the line is sent.
    pub(super) id: String,
    pub(super) content: Content,
}

/// Lines that are sent together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) lines: Vec<ExportedLine>,
    /// The positions behind these lines.
    pub(super) positions: Vec<(PathBuf, u64)>,
    /// Number of lines that cannot be read, which are left out.
    pub(super) unreadable: usize,
    bytes: u64,
}

impl Batch {
    /// Reads the next lines that were not acknowledged.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn next(journals: &JournalDirectories, cursor: &Cursor) -> io::Result<Self> {
        let mut batch = Self::default();
        for file in files(journals)? {
            if batch.is_full() {
                break;
            }
            batch.read(&file, cursor.position(&file))?;
        }
        Ok(batch)
    }

    /// Returns whether there is nothing to send or to skip.
    pub(super) fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    fn is_full(&self) -> bool {
        self.lines.len() >= MAX_RECORDS || self.bytes >= MAX_BYTES
    }

    fn read(&mut self, path: &Path, acknowledged: u64) -> io::Result<()> {
        let mut file = match untrusted_file::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            file => file?,
        };
        let length = file.metadata()?.len();
        // It was deleted and created again.
        let start = if acknowledged > length { 0 } else { acknowledged };
        if start == length {
            return Ok(());
        }
        file.seek(SeekFrom::Start(start))?;
        let (mut reader, mut position, mut line) = (BufReader::new(file), start, Vec::new());
        while !self.is_full() {
            line.clear();
            let size = reader.read_until(b'\n', &mut line)? as u64;
            // Half a line is still being written.
            if size == 0 || !line.ends_with(b"\n") {
                break;
            }
            self.add(path, position, &line);
            position += size;
            self.bytes += size;
        }
        if position > start {
            self.positions.push((path.to_owned(), position));
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, position: u64, line: &[u8]) {
        let text = line.trim_ascii();
        let is_seal = path.extension().is_some_and(|extension| extension == "seals");
        let content = if is_seal {
            serde_json::from_slice(text).ok().map(Content::Seal)
        } else {
            serde_json::from_slice(text).ok().map(|record| Content::Record(Box::new(record)))
        };
        match content {
            Some(content) => {
                self.lines.push(ExportedLine { id: id(path, position, text), content });
            }
            None => self.unreadable += usize::from(!text.is_empty()),
        }
    }
}

/// Returns an id that no other line has: by the name of the file, the position, and the text.
fn id(path: &Path, position: u64, text: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(path.file_name().unwrap_or_default().as_encoded_bytes());
    hasher.update([0]);
    hasher.update(position.to_le_bytes());
    hasher.update(text);
    let mut id = hex(&hasher.finalize());
    id.truncate(ID_DIGITS);
    id
}

/// Returns the journals, and then their seals.
fn files(journals: &JournalDirectories) -> io::Result<Vec<PathBuf>> {
    let conversations = journals.conversations()?;
    let mut files: Vec<PathBuf> = conversations.iter().map(|id| journals.path(id)).collect();
    files
        .extend(journals.all().map(|directory| Seals::from_directory(directory).path().to_owned()));
    Ok(files)
}
