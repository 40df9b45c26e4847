//! The records of turns: which files a turn changed, and what they were before and after. One file per turn, in a directory
//! per conversation.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenter_base::{FileLock, hex, private_dir, replace_file};

use super::objects::Objects;
use super::state::{FileState, StoredPath};

/// The format of the files.
const VERSION: u32 = 1;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file, as an absolute path.
    pub path: StoredPath,
    /// What it was before the turn.
    pub before: FileState,
    /// What the turn left.
    pub after: FileState,
}

/// A turn that changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct TurnRecord {
    pub(super) version: u32,
    /// Its number in the conversation, from 1. Turns that changed nothing have none.
    pub number: u64,
    /// When it began: RFC 3339.
    pub at: String,
    /// The beginning of the user's message.
    pub message: String,
    /// The changed files, in the order of their paths.
    pub changes: Vec<FileChange>,
    /// Whether the process ended during the turn, so that later changes may be among them.
    pub was_interrupted: bool,
    /// Whether the user undid it.
    pub is_undone: bool,
    /// Whether a later turn changed files, so that it cannot be redone.
    #[serde(default)]
    pub(super) is_dropped: bool,
    /// Whether the model was told that it is undone.
    pub(super) told_undone: bool,
}

impl TurnRecord {
    pub(super) fn new(heading: TurnHeading, changes: Vec<FileChange>) -> Self {
        let TurnHeading { number, at, message, .. } = heading;
        Self {
            version: VERSION,
            number,
            at,
            message,
            changes,
            was_interrupted: false,
            is_undone: false,
            is_dropped: false,
            told_undone: false,
        }
    }

    /// Whether the model has not been told yet that the turn was undone, or redone.
    pub(super) fn is_news(&self) -> bool {
        self.is_undone != self.told_undone
    }
}

/// What a turn is, before it ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TurnHeading {
    pub(super) number: u64,
    pub(super) at: String,
    pub(super) message: String,
    /// When it began to change files, in nanoseconds since 1970.
    pub(super) since_ns: i128,
}

/// A turn that has not ended, as a file: what is needed to end it if the process dies.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OpenTurn {
    pub(super) heading: TurnHeading,
    /// What single files were before.
    pub(super) touched: Vec<(StoredPath, FileState)>,
    /// Whether the base is the state of the project before.
    pub(super) has_base: bool,
}

/// The snapshots of one project.
#[derive(Debug)]
pub(super) struct Shelf {
    directory: PathBuf,
    pub(super) objects: Objects,
}

impl Shelf {
    /// The snapshots of `project` in `directory`, that of all snapshots.
    pub(super) fn of_project(directory: &Path, project: &Path) -> Self {
        let name = hex(&Sha256::digest(project.as_os_str().as_encoded_bytes())[..16]);
        Self::new(directory.join(name))
    }

    pub(super) fn new(directory: PathBuf) -> Self {
        let objects = Objects::new(directory.join("objects"));
        Self { directory, objects }
    }

    /// Waits for the lock under which contents are written and removed.
    pub(super) fn lock(&self) -> io::Result<FileLock> {
        private_dir::create(&self.directory)?;
        FileLock::acquire(&self.directory.join("lock"))
    }

    /// A stored content.
    pub(super) fn content(&self, content: &str) -> io::Result<Vec<u8>> {
        let _lock = self.lock()?;
        self.objects.get(content)
    }

    fn conversations(&self) -> PathBuf {
        self.directory.join("conversations")
    }

    /// The directory of a conversation.
    pub(super) fn of(&self, conversation: &str) -> ConversationShelf {
        // Ids are UUIDs; another name must not lead elsewhere.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let name = conversation.replace(|c| !is_plain(c), "_");
        ConversationShelf { directory: self.conversations().join(name) }
    }

    /// The conversations, that which was changed last first.
    pub(super) fn all(&self) -> Vec<ConversationShelf> {
        let entries = fs::read_dir(self.conversations()).into_iter().flatten().flatten();
        let mut all: Vec<ConversationShelf> =
            entries.map(|entry| ConversationShelf { directory: entry.path() }).collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.changed()));
        all
    }
}

/// The records of one conversation.
#[derive(Debug)]
pub(super) struct ConversationShelf {
    directory: PathBuf,
}

impl ConversationShelf {
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// When a record was written last.
    pub(super) fn changed(&self) -> Option<std::time::SystemTime> {
        let files = [self.directory.clone(), self.turns(), self.base_file()];
        files.iter().filter_map(|file| fs::metadata(file).ok()?.modified().ok()).max()
    }

    fn turns(&self) -> PathBuf {
        self.directory.join("turns")
    }

    fn turn_file(&self, number: u64) -> PathBuf {
        self.turns().join(format!("{number:06}.json"))
    }

    pub(super) fn base_file(&self) -> PathBuf {
        self.directory.join("base.json")
    }

    pub(super) fn open_file(&self) -> PathBuf {
        self.directory.join("open.json")
    }

    /// The numbers of the recorded turns, in order.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let entries = fs::read_dir(self.turns()).into_iter().flatten().flatten();
        let number = |name: String| name.strip_suffix(".json")?.parse().ok();
        let mut numbers: Vec<u64> =
            entries.filter_map(|entry| number(entry.file_name().into_string().ok()?)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// The recorded turns, in order.
    ///
    /// # Errors
    /// One cannot be read, or another version wrote it.
    pub(super) fn records(&self) -> io::Result<Vec<TurnRecord>> {
        self.numbers().into_iter().map(|number| self.record(number)).collect()
    }

    fn record(&self, number: u64) -> io::Result<TurnRecord> {
        let record: TurnRecord =
            read(&self.turn_file(number))?.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        if record.version == VERSION {
            Ok(record)
        } else {
            Err(io::Error::other("another version of Tenter wrote it"))
        }
    }

    pub(super) fn write_record(&self, record: &TurnRecord) -> io::Result<()> {
        write(&self.turn_file(record.number), record)
    }

    /// Writes the record of a new turn. What was undone before it cannot be redone.
    pub(super) fn add_record(&self, record: &TurnRecord) -> io::Result<()> {
        for undone in self.records()?.into_iter().filter(|turn| turn.is_undone && !turn.is_dropped)
        {
            self.write_record(&TurnRecord { is_dropped: true, ..undone })?;
        }
        self.write_record(record)
    }

    pub(super) fn remove_record(&self, number: u64) -> io::Result<()> {
        fs::remove_file(self.turn_file(number))
    }

    /// Writes that a turn has ended.
    pub(super) fn close(&self) -> io::Result<()> {
        match fs::remove_file(self.open_file()) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Reads a JSON file; `None` if it is missing.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).map_err(|error| {
            io::Error::new(ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        })?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a JSON file, atomically.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    private_dir::create_parent(path)?;
    let bytes = serde_json::to_vec(value)?;
    replace_file::replace_with_mode(path, &bytes, Some(0o600)).map(drop)
}
