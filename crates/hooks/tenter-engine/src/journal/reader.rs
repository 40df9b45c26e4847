//! Reads journals: whole, as they grow, or from their end. A line that is cut or invalid is counted and skipped; a line that a newer version
//! wrote is kept unchanged.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tenter_base::untrusted_file;

use super::record::Record;

/// Maximum number of bytes read at once.
const MAX_BYTES: u64 = 1 << 30;
/// Number of bytes that are read first from the end of a journal; each time after that it is twice as many, up to [`MAX_BLOCK`].
const FIRST_BLOCK: u64 = 32 << 10;
/// Maximum number of bytes that are read at once from the end of a journal, unless a line is longer.
const MAX_BLOCK: u64 = 1 << 20;

/// Returns the file of a conversation's journal.
pub fn path(directory: &Path, conversation: &str) -> PathBuf {
    // Tenter makes the ids, but one may come from a command line: it must not lead out of the directory.
    let name: String = conversation
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
        .collect();
    directory.join(format!("{name}.jsonl"))
}

/// Returns the length of the journal at `path`, in bytes; 0 if there is none. To look costs one system call.
///
/// # Errors
/// When something else than a file is there, or it cannot be looked at.
pub fn length(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is not a file")),
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// A line that could be read.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalLine {
    /// The record in it.
    pub record: Record,
    /// The line as it is in the journal, without its newline.
    pub text: String,
}

/// A part of a journal, in the order in which it was written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JournalLines {
    /// The lines that could be read.
    pub lines: Vec<JournalLine>,
    /// Number of lines that could not be read.
    pub unreadable: usize,
    /// True if the last line is incomplete: a process is writing it, or was killed while it did.
    pub unfinished: bool,
}

/// A position in a conversation's journal: each [`read`](Self::read) continues where the one before ended.
#[derive(Debug, Clone)]
pub struct JournalTail {
    path: PathBuf,
    offset: u64,
}

impl JournalTail {
    /// Creates the start of a conversation's journal, which need not exist yet.
    pub fn new(directory: &Path, conversation: &str) -> Self {
        Self::from_file(path(directory, conversation))
    }

    /// Returns the start of the journal in a file, which need not exist yet.
    pub(super) fn from_file(path: PathBuf) -> Self {
        Self { path, offset: 0 }
    }

    /// Reads what was written since the last call. An incomplete last line is left for the next call. A journal that did not
    /// grow costs one system call.
    ///
    /// # Errors
    /// When the file is there but cannot be read; a conversation without a journal has no lines.
    pub fn read(&mut self) -> io::Result<JournalLines> {
        let length = length(&self.path)?;
        if length < self.offset {
            self.offset = 0; // it was deleted and created again
        }
        if length == self.offset {
            return Ok(JournalLines::default());
        }
        let news = length - self.offset;
        if news > MAX_BYTES {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let mut file = untrusted_file::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        file.take(news).read_to_end(&mut bytes)?;
        let (lines, length) = split(&bytes);
        self.offset += length as u64;
        Ok(lines)
    }

    /// Continues at the present end of the journal.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn skip_to_end(&mut self) -> io::Result<()> {
        self.offset = length(&self.path)?;
        Ok(())
    }
}

fn too_long() -> io::Error {
    let message = format!("it has more than {} MiB", MAX_BYTES >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Reads a journal from its end, block by block.
#[derive(Debug)]
pub struct NewestLines {
    path: PathBuf,
    file: File,
    /// The length of the journal, in bytes, without an incomplete last line once the first block is read.
    end: u64,
    /// The number of bytes before the lines that were read.
    unread: u64,
    /// The number of bytes that are read next.
    block: u64,
}

impl NewestLines {
    /// Opens the journal in a file; `None` if there is none.
    pub(super) fn open(path: PathBuf) -> io::Result<Option<Self>> {
        let end = length(&path)?;
        if end == 0 {
            return Ok(None);
        }
        let file = untrusted_file::open(&path)?;
        Ok(Some(Self { path, file, end, unread: end, block: FIRST_BLOCK }))
    }

    /// Reads the lines before those that were read, in the order in which they were written; `None` at the beginning of the journal.
    ///
    /// # Errors
    /// When the file cannot be read, or more than a gigabyte was read.
    pub fn previous(&mut self) -> io::Result<Option<JournalLines>> {
        if self.unread == 0 {
            return Ok(None);
        }
        if self.end - self.unread > MAX_BYTES || self.block > MAX_BYTES {
            return Err(too_long());
        }
        let start = self.unread.saturating_sub(self.block);
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(start))?;
        self.file.by_ref().take(self.unread - start).read_to_end(&mut bytes)?;
        let newline = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let first = if start == 0 { 0 } else { newline };
        if start > 0 && first == bytes.len() {
            // A part of a long line.
            self.block *= 2;
            return self.previous();
        }
        let (lines, length) = split(&bytes[first..]);
        if self.unread == self.end {
            self.end = start + (first + length) as u64;
        }
        self.unread = start + first as u64;
        self.block = (self.block * 2).clamp(FIRST_BLOCK, MAX_BLOCK);
        Ok(Some(lines))
    }

    /// Returns the position at the end of the journal, as it was when the first lines were read.
    pub fn tail(&self) -> JournalTail {
        JournalTail { path: self.path.clone(), offset: self.end }
    }
}

/// Returns the lines in `bytes`, and their length in bytes. A last line that lacks only its newline is complete.
fn split(bytes: &[u8]) -> (JournalLines, usize) {
    let mut lines = JournalLines::default();
    let mut count = 0;
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        let content = piece.trim_ascii();
        let text = str::from_utf8(content).ok();
        let record = text.and_then(|text| serde_json::from_str(text).ok());
        match (text, record) {
            (Some(text), Some(record)) => {
                lines.lines.push(JournalLine { record, text: text.to_owned() });
            }
            _ if content.is_empty() => {}
            _ if piece.ends_with(b"\n") => lines.unreadable += 1,
            _ => {
                lines.unfinished = true;
                break;
            }
        }
        count += piece.len();
    }
    (lines, count)
}

/// Reads the whole journal of a conversation. An incomplete last line counts as unreadable.
///
/// # Errors
/// As [`JournalTail::read`].
pub fn read(directory: &Path, conversation: &str) -> io::Result<JournalLines> {
    let mut lines = JournalTail::new(directory, conversation).read()?;
    lines.unreadable += usize::from(lines.unfinished);
    Ok(lines)
}

/// Returns the conversations that have a journal, oldest first by the time of their last line.
///
/// # Errors
/// When the directory is there but cannot be read.
pub fn conversations(directory: &Path) -> io::Result<Vec<String>> {
    let mut dated = dated_conversations(directory)?;
    dated.sort();
    Ok(dated.into_iter().map(|(_, conversation)| conversation).collect())
}

/// Returns the conversations that have a journal, with the time of their last line.
pub(super) fn dated_conversations(directory: &Path) -> io::Result<Vec<(SystemTime, String)>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut dated = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // A file that was deleted meanwhile has no time.
        let time = entry.metadata().and_then(|metadata| metadata.modified());
        if let (Some(conversation), Ok(time)) = (name.strip_suffix(".jsonl"), time) {
            dated.push((time, conversation.to_owned()));
        }
    }
    Ok(dated)
}
