//! Conversations in SQLite: every message, tool result, usage figure and change of history.
//!
//! The unit is the [`Exchange`]: messages that stand or fall together, with every tool call answered among them. One
//! exchange is one transaction, so a process killed at any moment loses at most the exchange in flight, and what is
//! stored can always be resumed. A conversation comes into being with its first exchange, in the same transaction
//! ([`Store::begin`]): a first message that a hook blocks leaves nothing behind (R29), and no conversation is ever empty.
//!
//! Rows are added, never rewritten, and each carries a sequence number. A change of history ([`Store::replace_history`])
//! begins a new *epoch* and says who made it and why; the messages of earlier epochs stay and can be restored (R32, R36).
//! Saving therefore costs what is new, and loading costs the present history, however long a conversation's life was.
//!
//! Many processes share one database. Whoever saves says which sequence number it expects to be next, and is refused with
//! [`StoreError::ChangedElsewhere`] when another process was faster.
//!
//! What was said is in an index and can be searched. What the person deletes is gone for good, from the index and from the
//! file, and whoever is still at work on it is told with the next save ([`StoreError::Deleted`]).
//!
//! The store refuses to open what is not a conversation store, or one that a newer version wrote; it refuses an exchange
//! that could not be resumed; and it never deletes by itself, never reads the clock, and never decides what a history
//! should be.

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
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use error::Fault;

pub use conversation::{
    Change, ChangeKind, Entry, Epoch, Exchange, ExchangeUsage, Fork, Found, HistoryChange,
    ListQuery, NewConversation, Origin, Restore, SearchQuery, StoredConversation, StoredEntry,
    Summary,
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
    /// Opens the database at `path`, made with its folders where missing (file 0600, folders 0700), and brings it up to
    /// date.
    ///
    /// # Errors
    /// When the file or its folder cannot be made or written, is not a conversation store, or was written by a newer
    /// version. The file is then as it was.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open::open(path)?;
        Ok(Self { connection: Mutex::new(connection), path: path.to_owned() })
    }

    /// A store that is gone when it is dropped.
    ///
    /// # Errors
    /// When SQLite has no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from("(in memory)");
        let connection = open::in_memory(&path)?;
        Ok(Self { connection: Mutex::new(connection), path })
    }

    /// Runs `work` with the right to write. The right is taken first, so that what `work` reads is still true when it writes.
    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Immediate, work)
    }

    /// Runs `work` on one unchanging view of the database.
    fn read<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.transact(TransactionBehavior::Deferred, work)
    }

    fn transact<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        // A panic in another thread rolled its transaction back, so the connection is sound.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        in_transaction(&mut connection, behavior, work).map_err(|fault| fault.at(&self.path))
    }
}

/// Runs `work` in a transaction, which ends with it: kept when it succeeds, undone when it does not.
fn in_transaction<T>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction = connection.transaction_with_behavior(behavior)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}
