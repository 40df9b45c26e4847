//! The database of snapshots: contents of files by their SHA-256, and trees, which say what files were before and after a turn.
//!
//! It is a file of its own beside the conversations, so that copying a large project does not delay their saving, and so that the
//! file shrinks when snapshots are deleted. A write-ahead log makes every change atomic; after a power failure the last changes
//! may be missing.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tenter_base::{Clock, hex, lock};

use super::state::ProjectSurvey;
use super::turn::{OpenTurn, TurnRecord};
use crate::store::{SqlPath, StoreError, connect, in_transaction};

/// The version of the tables.
const VERSION: i64 = 1;
const TABLES: &str = "
    CREATE TABLE blobs (
        hash    TEXT NOT NULL PRIMARY KEY, -- the SHA-256 of the content
        content BLOB NOT NULL
    ) STRICT;
    CREATE TABLE trees (
        project      ANY NOT NULL,         -- the project root: text, or a blob if the path is not UTF-8
        conversation TEXT NOT NULL,
        number       INTEGER NOT NULL,     -- the turn, from 1; 0: the turn in progress; -1: the project before the last turn
        tree         TEXT NOT NULL,        -- JSON
        changed_at   INTEGER NOT NULL,     -- seconds since 1970
        PRIMARY KEY (project, conversation, number)
    ) STRICT;
    PRAGMA user_version = 1;";

/// Maximum wait for other processes, which may copy a large project.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Age after which the snapshots of a conversation are deleted, in seconds.
const MAX_AGE: i64 = 30 * 24 * 60 * 60;
/// Maximum size of all contents, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum number of recorded turns of a conversation.
const MAX_TURNS: usize = 100;

/// An error of the database, or of the files that are copied into it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) enum SnapshotError {
    Io(#[from] io::Error),
    Json(#[from] serde_json::Error),
    Sqlite(#[from] rusqlite::Error),
    Store(#[from] StoreError),
}

impl From<SnapshotError> for io::Error {
    fn from(error: SnapshotError) -> Self {
        match error {
            SnapshotError::Io(error) => error,
            error => Self::other(error),
        }
    }
}

/// The snapshots of one project. The database is created by the first write.
#[derive(Debug)]
pub(super) struct Database {
    directory: PathBuf,
    project: SqlPath,
    clock: Clock,
    connection: Mutex<Option<Connection>>,
}

/// The snapshots of one project within a transaction.
pub(super) struct SnapshotView<'t> {
    transaction: &'t Transaction<'t>,
    project: &'t SqlPath,
    /// Seconds since 1970.
    now: i64,
}

impl Database {
    /// Returns the snapshots of `project` in `directory`, the directory of all snapshots.
    pub(super) fn new(directory: &Path, project: &Path, clock: Clock) -> Self {
        let (directory, project) = (directory.to_owned(), SqlPath(project.to_owned()));
        Self { directory, project, clock, connection: Mutex::default() }
    }

    /// Runs `work` in a transaction during which no other process writes.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&SnapshotView<'_>) -> Result<T, SnapshotError>,
    ) -> io::Result<T> {
        self.transact(TransactionBehavior::Immediate, work)
    }

    /// Runs `work`, which reads, if there is a database.
    pub(super) fn read<T: Default>(
        &self,
        work: impl FnOnce(&SnapshotView<'_>) -> Result<T, SnapshotError>,
    ) -> io::Result<T> {
        if !file(&self.directory).exists() {
            return Ok(T::default());
        }
        self.transact(TransactionBehavior::Deferred, work)
    }

    fn transact<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&SnapshotView<'_>) -> Result<T, SnapshotError>,
    ) -> io::Result<T> {
        let mut connection = lock(&self.connection);
        let connection = match &mut *connection {
            Some(connection) => connection,
            closed => closed.insert(open(&self.directory)?),
        };
        let now = (self.clock)().as_second();
        let result = transaction(connection, behavior, |transaction| {
            work(&SnapshotView { transaction, project: &self.project, now })
        });
        Ok(result?)
    }

    /// Deletes old snapshots of all projects, except the snapshots of `conversation` in this project.
    pub(super) fn prune(&self, conversation: &str) -> io::Result<()> {
        self.prune_to(conversation, (self.clock)().as_second() - MAX_AGE, MAX_BYTES)
    }

    /// Deletes the snapshots of conversations that were last changed before `oldest`, in seconds since 1970, and then the oldest
    /// ones until the contents have at most `max_bytes`.
    pub(super) fn prune_to(
        &self,
        conversation: &str,
        oldest: i64,
        max_bytes: u64,
    ) -> io::Result<()> {
        let old = "DELETE FROM trees WHERE (project, conversation) IN (
            SELECT project, conversation FROM trees WHERE (project, conversation) <> (?1, ?2)
            GROUP BY project, conversation HAVING max(changed_at) < ?3)";
        let least_recent = "DELETE FROM trees WHERE (project, conversation) = (
            SELECT project, conversation FROM trees WHERE (project, conversation) <> (?1, ?2)
            GROUP BY project, conversation ORDER BY max(changed_at) LIMIT 1)";
        let mut connection = open(&self.directory)?;
        transaction(&mut connection, TransactionBehavior::Immediate, |transaction| {
            transaction.execute(old, params![self.project, conversation, oldest])?;
            delete_unused_blobs(transaction)?;
            while size_of_blobs(transaction)? > max_bytes
                && transaction.execute(least_recent, params![self.project, conversation])? > 0
            {
                delete_unused_blobs(transaction)?;
            }
            Ok(())
        })?;
        Ok(clean_up(&connection)?)
    }
}

impl SnapshotView<'_> {
    /// Stores a content, and returns its hash.
    pub(super) fn put(&self, bytes: &[u8]) -> Result<String, SnapshotError> {
        let hash = hash(bytes);
        let sql = "INSERT INTO blobs VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.transaction.prepare_cached(sql)?.execute(params![hash, bytes])?;
        Ok(hash)
    }

    /// Returns a stored content.
    ///
    /// # Errors
    /// It is not stored, cannot be read, or is damaged.
    pub(super) fn content(&self, hash: &str) -> Result<Vec<u8>, SnapshotError> {
        let sql = "SELECT content FROM blobs WHERE hash = ?1";
        let content: Option<Vec<u8>> =
            self.transaction.prepare_cached(sql)?.query_row([hash], |row| row.get(0)).optional()?;
        let is_intact = |content: &Vec<u8>| self::hash(content) == hash;
        let damaged = || io::Error::new(ErrorKind::InvalidData, "the stored copy is damaged");
        Ok(content.filter(is_intact).ok_or_else(damaged)?)
    }

    /// Returns the recorded turns of a conversation, in order.
    pub(super) fn turns(&self, conversation: &str) -> Result<Vec<TurnRecord>, SnapshotError> {
        let sql = "SELECT tree FROM trees WHERE project = ?1 AND conversation = ?2 AND number > 0 ORDER BY number";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let rows = statement.query_map(params![self.project, conversation], json_column)?;
        rows.map(|row| Ok(serde_json::from_str(&row?)?)).collect()
    }

    /// Returns the number of the next turn of a conversation.
    pub(super) fn next_number(&self, conversation: &str) -> Result<u64, SnapshotError> {
        let sql = "SELECT max(number, 0) + 1 FROM trees WHERE project = ?1 AND conversation = ?2
            ORDER BY number DESC LIMIT 1";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let number: Option<i64> = statement
            .query_row(params![self.project, conversation], |row| row.get(0))
            .optional()?;
        Ok(number.and_then(|number| number.try_into().ok()).unwrap_or(1))
    }

    /// Writes the record of a turn.
    pub(super) fn write_turn(
        &self,
        conversation: &str,
        turn: &TurnRecord,
    ) -> Result<(), SnapshotError> {
        self.write_tree(conversation, TreeNumber::Turn(turn.number), turn)
    }

    /// Writes the record of a new turn. Turns that were undone before it cannot be redone, and the oldest turns are deleted.
    pub(super) fn add_turn(
        &self,
        conversation: &str,
        turn: &TurnRecord,
    ) -> Result<(), SnapshotError> {
        let mut turns = self.turns(conversation)?;
        for undone in turns.iter_mut().filter(|turn| turn.is_undone && !turn.is_dropped) {
            undone.is_dropped = true;
            self.write_turn(conversation, undone)?;
        }
        for old in turns.iter().rev().skip(MAX_TURNS - 1) {
            self.delete_tree(conversation, TreeNumber::Turn(old.number))?;
        }
        self.write_turn(conversation, turn)
    }

    /// Returns the turn of a conversation that has not ended.
    pub(super) fn open_turn(&self, conversation: &str) -> Result<Option<OpenTurn>, SnapshotError> {
        self.tree(conversation, TreeNumber::InProgress)
    }

    /// Writes the turn of a conversation that has not ended.
    pub(super) fn write_open_turn(
        &self,
        conversation: &str,
        turn: &OpenTurn,
    ) -> Result<(), SnapshotError> {
        self.write_tree(conversation, TreeNumber::InProgress, turn)
    }

    /// Records that the turn of a conversation has ended.
    pub(super) fn delete_open_turn(&self, conversation: &str) -> Result<(), SnapshotError> {
        self.delete_tree(conversation, TreeNumber::InProgress)
    }

    /// Returns the state of the project before the last turn of a conversation.
    pub(super) fn base(&self, conversation: &str) -> Result<Option<ProjectSurvey>, SnapshotError> {
        self.tree(conversation, TreeNumber::Base)
    }

    /// Writes the state of the project before a turn.
    pub(super) fn write_base(
        &self,
        conversation: &str,
        base: &ProjectSurvey,
    ) -> Result<(), SnapshotError> {
        self.write_tree(conversation, TreeNumber::Base, base)
    }

    /// Returns the last state of the project that any conversation recorded.
    pub(super) fn last_base(&self) -> Result<ProjectSurvey, SnapshotError> {
        let sql = "SELECT tree FROM trees WHERE project = ?1 AND number = ?2 ORDER BY changed_at DESC LIMIT 1";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let values = params![self.project, TreeNumber::Base.as_i64()];
        let base = statement.query_row(values, json_column).optional()?;
        Ok(base.and_then(|base| serde_json::from_str(&base).ok()).unwrap_or_default())
    }

    fn tree<T: DeserializeOwned>(
        &self,
        conversation: &str,
        number: TreeNumber,
    ) -> Result<Option<T>, SnapshotError> {
        let sql = "SELECT tree FROM trees WHERE project = ?1 AND conversation = ?2 AND number = ?3";
        let values = params![self.project, conversation, number.as_i64()];
        let tree =
            self.transaction.prepare_cached(sql)?.query_row(values, json_column).optional()?;
        Ok(tree.map(|tree| serde_json::from_str(&tree)).transpose()?)
    }

    fn write_tree(
        &self,
        conversation: &str,
        number: TreeNumber,
        tree: &impl Serialize,
    ) -> Result<(), SnapshotError> {
        let sql = "INSERT OR REPLACE INTO trees VALUES (?1, ?2, ?3, ?4, ?5)";
        let tree = serde_json::to_string(tree)?;
        let values = params![self.project, conversation, number.as_i64(), tree, self.now];
        self.transaction.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn delete_tree(&self, conversation: &str, number: TreeNumber) -> Result<(), SnapshotError> {
        let sql = "DELETE FROM trees WHERE project = ?1 AND conversation = ?2 AND number = ?3";
        let values = params![self.project, conversation, number.as_i64()];
        self.transaction.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }
}

/// The number of a tree in its conversation.
#[derive(Debug, Clone, Copy)]
enum TreeNumber {
    Base,
    InProgress,
    Turn(u64),
}

impl TreeNumber {
    fn as_i64(self) -> i64 {
        match self {
            Self::Base => -1,
            Self::InProgress => 0,
            Self::Turn(number) => i64::try_from(number).unwrap_or(i64::MAX),
        }
    }
}

/// Deletes the snapshots of these conversations, in all projects.
///
/// # Errors
/// They cannot be deleted.
pub fn forget(directory: &Path, conversations: &[String]) -> io::Result<()> {
    if !file(directory).exists() {
        return Ok(());
    }
    let mut connection = open(directory)?;
    transaction(&mut connection, TransactionBehavior::Immediate, |transaction| {
        let sql = "DELETE FROM trees WHERE conversation = ?1";
        for conversation in conversations {
            transaction.prepare_cached(sql)?.execute([conversation])?;
        }
        delete_unused_blobs(transaction)
    })?;
    Ok(clean_up(&connection)?)
}

/// Runs `work` in a transaction of this database.
fn transaction<T>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, SnapshotError>,
) -> Result<T, SnapshotError> {
    in_transaction(connection, behavior, work)
}

fn size_of_blobs(transaction: &Transaction<'_>) -> Result<u64, SnapshotError> {
    let sql = "SELECT coalesce(sum(length(content)), 0) FROM blobs";
    let size: i64 = transaction.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(size.unsigned_abs())
}

/// Deletes the contents that no tree names.
fn delete_unused_blobs(transaction: &Transaction<'_>) -> Result<(), SnapshotError> {
    let sql = "DELETE FROM blobs WHERE hash NOT IN (
        SELECT node.atom FROM trees, json_tree(trees.tree) AS node
        WHERE node.key = 'content' AND node.type = 'text')";
    transaction.execute(sql, [])?;
    Ok(())
}

/// Returns the space of deleted snapshots to the system.
fn clean_up(connection: &Connection) -> Result<(), SnapshotError> {
    // It frees one page for each step.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    // While another process reads, the log cannot be emptied; the next clean-up empties it.
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(())
}

fn file(directory: &Path) -> PathBuf {
    directory.join("snapshots.db")
}

/// Opens the database, and creates it if it does not exist.
///
/// # Errors
/// It cannot be created or opened, or another version of Tenter wrote it.
fn open(directory: &Path) -> Result<Connection, SnapshotError> {
    let mut connection = connect(&file(directory), "PRAGMA auto_vacuum = INCREMENTAL")?;
    connection.busy_timeout(MAX_WAIT)?;
    transaction(&mut connection, TransactionBehavior::Immediate, |transaction| match transaction
        .query_row("PRAGMA user_version", [], |row| row.get(0))?
    {
        0 => Ok(transaction.execute_batch(TABLES)?),
        VERSION => Ok(()),
        _ => Err(io::Error::other("another version of Tenter wrote them").into()),
    })?;
    Ok(connection)
}

/// Returns the name under which a content is stored.
pub(super) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn json_column(row: &Row<'_>) -> rusqlite::Result<String> {
    row.get(0)
}
