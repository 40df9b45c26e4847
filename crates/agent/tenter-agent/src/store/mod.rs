//! Stores conversations in SQLite: every message, tool result, usage count and change of history.
//!
//! The unit is the [`Exchange`]: messages that are saved together, with every tool call answered among them. One exchange
//! is one transaction, so a process killed at any moment loses at most the exchange in flight, and every stored
//! conversation can be resumed. A conversation is created with its first exchange, in the same transaction
//! ([`Store::begin`]): a first message that a hook blocks stores nothing (R29), and no conversation is ever empty.
//!
//! Rows are added, never rewritten, and each has a sequence number. A change of history ([`Store::replace_history`])
//! starts a new *epoch* and records who made it and why; the messages of earlier epochs are kept and can be restored
//! (R32, R36). Saving therefore costs in proportion to what is new, and loading in proportion to the current history,
//! however long the conversation is.
//!
//! Several processes share one database. A caller that saves passes the sequence number that it expects next, and gets
//! [`StoreError::ChangedElsewhere`] if another process saved first.
//!
//! Messages are indexed and can be searched. Deleted conversations are removed for good, from the index and from the
//! file, and a process that still uses one gets an error with its next save ([`StoreError::Deleted`]).
//!
//! The store does not open files that are not conversation stores or that a newer version wrote; it rejects an exchange
//! that could not be resumed; it never deletes by itself, and never reads the clock.

mod conversation;
mod copy;
mod delete;
mod encoding;
mod error;
mod id;
mod index;
mod migrations;
mod open;
mod read;
mod search;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tenter_base::lock;

pub(crate) use encoding::SqlPath;
use error::StoreFault;
pub(crate) use open::connect;

pub use conversation::{
    ChangeKind, Epoch, Exchange, ExchangeUsage, Fork, HistoryChange, HistoryEntry, ListQuery,
    NewConversation, Origin, RecordedChange, Restore, SearchHit, SearchQuery, StoredConversation,
    StoredEntry, Summary,
};
pub use error::StoreError;
pub use id::new_conversation_id;

/// The conversations of one database: one connection, which threads share.
#[derive(Debug)]
pub struct Store {
    connection: Mutex<Connection>,
    path: PathBuf,
}

impl Store {
    /// Opens the database at `path`, creating it with its directories if missing (file 0600, directories 0700), and
    /// migrates it.
    ///
    /// # Errors
    /// When the file or its directory cannot be created or written, is not a conversation store, or was written by a
    /// newer version. The file is then unchanged.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open::open(path)?;
        Ok(Self { connection: Mutex::new(connection), path: path.to_owned() })
    }

    /// Returns a store in memory.
    ///
    /// # Errors
    /// When SQLite cannot allocate it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from("(in memory)");
        let connection = open::in_memory(&path)?;
        Ok(Self { connection: Mutex::new(connection), path })
    }

    /// Runs `work` in a write transaction. The write lock is taken first, so that what `work` reads is still true when it
    /// writes.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Immediate, work)
    }

    /// Runs `work` on one consistent snapshot of the database.
    fn read<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Deferred, work)
    }

    fn transact<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreError> {
        // A panic in another thread rolled back its transaction, so the connection is consistent.
        let mut connection = lock(&self.connection);
        in_transaction(&mut connection, behavior, work).map_err(|fault| fault.at(&self.path))
    }
}

/// Runs `work` in a transaction: committed if it succeeds, rolled back if it does not.
pub(crate) fn in_transaction<T, E: From<rusqlite::Error>>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = connection.transaction_with_behavior(behavior)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}
