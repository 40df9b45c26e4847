//! The contents of files, each stored once under its SHA-256: one after another in a pack, with an index of where they are. A
//! file for each would take much longer to create.
//!
//! Contents are written without a sync: after a crash of the machine one may be damaged, which is found when it is read.
//! Everything here happens under the lock of the project's snapshots.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tenter_base::{hex, private_dir, replace_file};

/// Size of the buffer for writing, in bytes.
const BUFFER: usize = 256 << 10;

/// A directory of contents.
#[derive(Debug)]
pub(super) struct Objects {
    directory: PathBuf,
}

/// Where contents are.
#[derive(Debug, Default)]
struct Index {
    /// The number of the pack.
    pack: u64,
    /// The offset and length of each content.
    entries: HashMap<String, (u64, u64)>,
}

/// Adds contents.
#[derive(Debug)]
pub(super) struct ObjectWriter {
    index_file: PathBuf,
    state: Mutex<WriterState>,
}

#[derive(Debug)]
struct WriterState {
    index: Index,
    pack: BufWriter<File>,
    end: u64,
    /// The lines to add to the index.
    lines: String,
}

impl Objects {
    pub(super) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn index_file(&self) -> PathBuf {
        self.directory.join("index")
    }

    fn pack_file(&self, number: u64) -> PathBuf {
        self.directory.join(format!("pack-{number}"))
    }

    /// Reads the index. The first line is the number of the pack; an incomplete last line is ignored.
    fn index(&self) -> io::Result<Index> {
        let text = match fs::read_to_string(self.index_file()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Index::default()),
            text => text?,
        };
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = complete.lines();
        let pack = lines.next().and_then(|line| line.parse().ok()).unwrap_or_default();
        let entry = |line: &str| {
            let mut fields = line.split(' ');
            let content = fields.next()?.to_owned();
            Some((content, (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?)))
        };
        Ok(Index { pack, entries: lines.filter_map(entry).collect() })
    }

    /// Begins to add contents. They are stored when it is [finished](ObjectWriter::finish).
    pub(super) fn writer(&self) -> io::Result<ObjectWriter> {
        let index = self.index()?;
        private_dir::create(&self.directory)?;
        let pack = appending(&self.pack_file(index.pack))?;
        let end = pack.metadata()?.len();
        let pack = BufWriter::with_capacity(BUFFER, pack);
        let state = WriterState { index, pack, end, lines: String::new() };
        Ok(ObjectWriter { index_file: self.index_file(), state: Mutex::new(state) })
    }

    /// A stored content.
    ///
    /// # Errors
    /// It is not stored, cannot be read, or is damaged.
    pub(super) fn get(&self, content: &str) -> io::Result<Vec<u8>> {
        let index = self.index()?;
        read(&self.pack_file(index.pack), index.entries.get(content).copied(), content)
    }

    /// Removes contents that are not named. If `always` is not set, only when they are a quarter. Returns the size of the others.
    pub(super) fn retain(&self, named: &HashSet<String>, always: bool) -> io::Result<u64> {
        let index = self.index()?;
        let pack = self.pack_file(index.pack);
        let size = fs::metadata(&pack).map_or(0, |found| found.len());
        let kept = index.entries.iter().filter(|(content, _)| named.contains(*content));
        let kept: Vec<(&String, (u64, u64))> = kept.map(|(name, place)| (name, *place)).collect();
        let bytes: u64 = kept.iter().map(|(_, (_, length))| length).sum();
        let unnamed = size.saturating_sub(bytes);
        if unnamed == 0 || (!always && unnamed < size / 4) {
            return Ok(bytes);
        }
        let number = index.pack + 1;
        // One of a process that died is replaced.
        let _ = fs::remove_file(self.pack_file(number));
        let mut new = BufWriter::with_capacity(BUFFER, appending(&self.pack_file(number))?);
        let (mut text, mut end) = (format!("{number}\n"), 0);
        for (content, place) in kept {
            // A damaged one is lost.
            if let Ok(found) = read(&pack, Some(place), content) {
                new.write_all(&found)?;
                add_line(&mut text, content, end, found.len() as u64);
                end += found.len() as u64;
            }
        }
        new.flush()?;
        replace_file::replace_with_mode(&self.index_file(), text.as_bytes(), Some(0o600))?;
        match fs::remove_file(pack) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(end),
        }
    }
}

impl ObjectWriter {
    /// Adds a content, and returns its name.
    pub(super) fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let content = hex(&Sha256::digest(bytes));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let WriterState { index, pack, end, lines } = &mut *state;
        if !index.entries.contains_key(&content) {
            pack.write_all(bytes)?;
            let length = bytes.len() as u64;
            add_line(lines, &content, *end, length);
            index.entries.insert(content.clone(), (*end, length));
            *end += length;
        }
        Ok(content)
    }

    /// Stores what was added.
    pub(super) fn finish(self) -> io::Result<()> {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if state.lines.is_empty() {
            return Ok(());
        }
        state.pack.flush()?;
        let mut index = appending(&self.index_file)?;
        let start = match index.metadata()?.len() {
            0 => format!("{}\n", state.index.pack),
            // Half a line of a process that died must not join the next.
            length if !ends_line(&self.index_file, length)? => "\n".to_owned(),
            _ => String::new(),
        };
        index.write_all((start + &state.lines).as_bytes())
    }
}

fn ends_line(path: &Path, length: u64) -> io::Result<bool> {
    let mut last = [0];
    File::open(path)?.read_exact_at(&mut last, length - 1)?;
    Ok(last == *b"\n")
}

fn add_line(text: &mut String, content: &str, offset: u64, length: u64) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content} {offset} {length}");
}

fn appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn read(pack: &Path, place: Option<(u64, u64)>, content: &str) -> io::Result<Vec<u8>> {
    let damaged = || io::Error::new(ErrorKind::InvalidData, "the stored copy is damaged");
    let (offset, length) = place.ok_or_else(damaged)?;
    let pack = File::open(pack)?;
    if pack.metadata()?.len() < offset.saturating_add(length) {
        return Err(damaged());
    }
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| damaged())?];
    pack.read_exact_at(&mut bytes, offset)?;
    if hex(&Sha256::digest(&bytes)) == content { Ok(bytes) } else { Err(damaged()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(objects: &Objects, bytes: &[u8]) -> String {
        let writer = objects.writer().unwrap();
        let content = writer.put(bytes).unwrap();
        writer.finish().unwrap();
        content
    }

    #[test]
    fn contents_are_stored_once_and_damage_is_found() {
        let scratch = tempfile::tempdir().unwrap();
        let objects = Objects::new(scratch.path().join("objects"));
        let (one, two) = (put(&objects, b"precious"), put(&objects, b"another"));
        assert_eq!(put(&objects, b"precious"), one);
        assert_eq!(objects.get(&one).unwrap(), b"precious");
        assert_eq!(objects.get(&two).unwrap(), b"another");
        assert_eq!(fs::metadata(objects.pack_file(0)).unwrap().len(), 15);
        fs::write(objects.pack_file(0), "precioux").unwrap();
        for content in [&one, &two, &"unknown".to_owned()] {
            assert_eq!(objects.get(content).unwrap_err().kind(), ErrorKind::InvalidData);
        }
    }

    #[test]
    fn a_writer_that_died_loses_only_its_own_contents() {
        let scratch = tempfile::tempdir().unwrap();
        let objects = Objects::new(scratch.path().join("objects"));
        let one = put(&objects, b"one");
        // It wrote contents, and half of a line.
        appending(&objects.pack_file(0)).unwrap().write_all(b"lost").unwrap();
        appending(&objects.index_file()).unwrap().write_all(b"0123456 3").unwrap();
        let two = put(&objects, b"two");
        let three = put(&objects, b"three");
        for (content, bytes) in [(one, "one"), (two, "two"), (three, "three")] {
            assert_eq!(objects.get(&content).unwrap(), bytes.as_bytes());
        }
    }

    #[test]
    fn contents_without_a_name_are_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let objects = Objects::new(scratch.path().join("objects"));
        let (one, two) = (put(&objects, b"one one one one one"), put(&objects, b"two"));
        let named = HashSet::from([one.clone()]);
        assert_eq!(objects.retain(&named, false).unwrap(), 19);
        assert!(objects.get(&two).is_ok(), "it is less than a quarter");
        assert_eq!(objects.retain(&named, true).unwrap(), 19);
        assert!(objects.get(&two).is_err());
        assert_eq!(put(&objects, b"two"), two);
        for content in [one, two] {
            assert!(objects.get(&content).is_ok());
        }
        assert_eq!(objects.retain(&HashSet::new(), true).unwrap(), 0);
        assert_eq!(fs::metadata(objects.pack_file(2)).unwrap().len(), 0);
    }
}
