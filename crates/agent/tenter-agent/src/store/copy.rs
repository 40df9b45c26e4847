//! Copies histories: a fork starts a conversation with another one's messages, a restore brings back an earlier history.

use rusqlite::{Transaction, params};

use super::encoding::Number;
use super::error::StoreFault;
use super::read::{self, ConversationPosition};
use super::write::{self, MessagePosition};
use super::{ChangeKind, Fork, HistoryChange, Origin, Restore, Store, StoreError, StoredEntry};

impl Store {
    /// Starts a conversation with the messages of another one's current history, which is unchanged. Their usage remains
    /// the other's; the fork of a subagent's conversation has no parent. Returns the number of messages.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NoFork`] where a tool's result would be missing, or SQLite's error.
    pub fn fork(&self, fork: &Fork<'_>) -> Result<u64, StoreError> {
        self.write(|transaction| {
            let entries = beginning(transaction, fork)?;
            let count = entries.len() as u64;
            add_conversation(transaction, fork, &entries)?;
            add_copies(transaction, fork.id, CopyStart { epoch: 0, sequence: 0 }, &entries)?;
            Ok(count)
        })
    }

    /// Restores an earlier history, as a change of history by the user (R32): its messages keep their origins and times.
    /// Returns the number of the restored epoch.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NeverReplaced`], [`StoreError::NoSuchEpoch`], or SQLite's error.
    pub fn restore(&self, restore: &Restore<'_>) -> Result<u64, StoreError> {
        self.write(|transaction| {
            let id = restore.id;
            let now = read::position(transaction, id)?;
            let epoch = earlier(restore, now)?;
            let entries = read::entries(transaction, id, epoch)?;
            let start = CopyStart { epoch: now.epoch + 1, sequence: now.next };
            let reason = format!("epoch {epoch}");
            let change = HistoryChange {
                conversation_id: id,
                expected_next: now.next,
                kind: ChangeKind::Restore,
                by: "user",
                reason: Some(&reason),
                entries: &[],
                at: restore.at, usage: None };
            write::add_change(transaction, start.epoch, &change)?;
            let next = add_copies(transaction, id, start, &entries)?;
            // This starts no session, so the status is unchanged.
            let sql = "UPDATE conversations SET epoch = ?2, next_sequence = ?3, updated_at = ?4 WHERE id = ?1";
            let values = params![id, Number(start.epoch), Number(next), restore.at];
            transaction.prepare_cached(sql)?.execute(values)?;
            Ok(epoch)
        })
    }
}

/// Returns the messages to copy.
fn beginning(view: &Transaction<'_>, fork: &Fork<'_>) -> Result<Vec<StoredEntry>, StoreFault> {
    let no_fork = |detail| StoreError::NoFork { id: fork.source.to_owned(), detail };
    let epoch = read::position(view, fork.source)?.epoch;
    let mut entries = read::entries(view, fork.source, epoch)?;
    let there = entries.len() as u64;
    let count = fork.messages.unwrap_or(there);
    if count > there {
        return Err(no_fork(format!("it has {there} messages, not {count}")).into());
    }
    entries.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    write::check(entries.iter().map(|entry| &entry.entry.message)).map_err(no_fork)?;
    Ok(entries)
}

fn add_conversation(
    transaction: &Transaction<'_>,
    fork: &Fork<'_>,
    entries: &[StoredEntry],
) -> Result<(), StoreFault> {
    let is_response = |entry: &&StoredEntry| entry.entry.origin == Origin::Model;
    let turns = entries.iter().filter(is_response).count() as u64;
    let sql = "INSERT INTO conversations
        (id, project, model, parent, recipe, created_at, updated_at, status, preview, epoch, next_sequence, turns, forked_from)
        SELECT ?2, project, model, NULL, recipe, ?3, ?3, 'forked', preview, 0, ?4, ?5, id FROM conversations WHERE id = ?1";
    let next = Number(entries.len() as u64);
    let values = params![fork.source, fork.id, fork.at, next, Number(turns)];
    transaction.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Returns the epoch to restore.
fn earlier(restore: &Restore<'_>, now: ConversationPosition) -> Result<u64, StoreError> {
    let id = || restore.id.to_owned();
    let Some(last) = now.epoch.checked_sub(1) else {
        return Err(StoreError::NeverReplaced { id: id() });
    };
    let epoch = restore.epoch.unwrap_or(last);
    if epoch > last {
        return Err(StoreError::NoSuchEpoch { id: id(), epoch, present: now.epoch });
    }
    Ok(epoch)
}

/// The position that copies start at.
#[derive(Debug, Clone, Copy)]
struct CopyStart {
    epoch: u64,
    sequence: u64,
}

/// Copies messages with their times and origins. Returns the next sequence number.
fn add_copies(
    transaction: &Transaction<'_>,
    id: &str,
    start: CopyStart,
    entries: &[StoredEntry],
) -> Result<u64, StoreFault> {
    let mut sequence = start.sequence;
    for StoredEntry { at, entry, .. } in entries {
        let place = MessagePosition { id, epoch: start.epoch, sequence, at };
        write::add_message(transaction, place, entry)?;
        sequence += 1;
    }
    Ok(sequence)
}
