//! Changes the database. Every function is one transaction.

use std::collections::BTreeSet;

use rusqlite::{Transaction, params};
use tenter_protocol::{Block, Message, Role};

use super::encoding::{self, Number, SqlPath};
use super::error::StoreFault;
use super::read::{self, ConversationPosition};
use super::{
    Exchange, ExchangeUsage, HistoryChange, HistoryEntry, NewConversation, Origin, Store,
    StoreError, index,
};

impl Store {
    /// Creates a conversation with its first exchange. Returns the next sequence number.
    ///
    /// # Errors
    /// As [`append`](Self::append); [`StoreError::ChangedElsewhere`] if the conversation exists.
    pub fn begin(
        &self,
        conversation: &NewConversation<'_>,
        first: &Exchange<'_>,
    ) -> Result<u64, StoreError> {
        self.write(|transaction| {
            add_conversation(transaction, first.conversation_id, conversation)?;
            add_exchange(transaction, first)
        })
    }

    /// Appends an exchange to a conversation, and resets its status to running. Returns the next sequence number.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::ChangedElsewhere`], [`StoreError::Deleted`], [`StoreError::NotResumable`],
    /// or SQLite's error.
    pub fn append(&self, exchange: &Exchange<'_>) -> Result<u64, StoreError> {
        self.write(|transaction| add_exchange(transaction, exchange))
    }

    /// Records usage that belongs to no saved message: a failed recipe, an empty response. It is counted with the next
    /// entry, if there is one.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn spend(
        &self,
        id: &str,
        expected_next: u64,
        usage: &ExchangeUsage<'_>,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let now = position(transaction, id, expected_next)?;
            add_usage(transaction, id, now.next, usage)
        })
    }

    /// Records the consecutive failures of a recipe's callback; 0 removes the record (R33).
    ///
    /// # Errors
    /// SQLite's error, also for a conversation that is not stored.
    pub fn set_callback_failures(
        &self,
        id: &str,
        recipe: &str,
        failures: u32,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let forget = "DELETE FROM callback_failures WHERE conversation_id = ?1 AND recipe = ?2";
            transaction.prepare_cached(forget)?.execute(params![id, recipe])?;
            if failures > 0 {
                let sql = "INSERT INTO callback_failures VALUES (?1, ?2, ?3)";
                transaction.prepare_cached(sql)?.execute(params![id, recipe, failures])?;
            }
            Ok(())
        })
    }

    /// Replaces the history, and records the author and the reason (R32, R36). The replaced one remains in
    /// [`history`](Self::history) and can be [restored](Self::restore). Returns the next sequence number.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn replace_history(&self, change: &HistoryChange<'_>) -> Result<u64, StoreError> {
        self.write(|transaction| {
            let now = position(transaction, change.conversation_id, change.expected_next)?;
            let next = ConversationPosition { epoch: now.epoch + 1, ..now };
            add_change(transaction, next.epoch, change)?;
            if let Some(usage) = &change.usage {
                add_usage(transaction, change.conversation_id, now.next, usage)?;
            }
            add_entries(transaction, change.conversation_id, next, change.entries, change.at)
        })
    }

    /// Records the status at the end of a session: `done`, `blocked`, `failed`, `max_turns` or `interrupted`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a conversation whose first exchange was never saved, or SQLite's error.
    pub fn set_status(&self, id: &str, status: &str, at: &str) -> Result<(), StoreError> {
        self.write(|transaction| {
            read::position(transaction, id)?;
            let sql = "UPDATE conversations SET status = ?2, updated_at = ?3 WHERE id = ?1";
            transaction.prepare_cached(sql)?.execute(params![id, status, at])?;
            Ok(())
        })
    }
}

/// Returns the position of the conversation, if it is the one that the caller expects.
fn position(
    transaction: &Transaction<'_>,
    id: &str,
    expected: u64,
) -> Result<ConversationPosition, StoreFault> {
    let now = match read::position(transaction, id) {
        // It was stored once, or the caller would not expect a position.
        Err(StoreFault::Store(StoreError::NotFound { .. })) if expected > 0 => {
            return Err(StoreError::Deleted { id: id.to_owned() }.into());
        }
        found => found?,
    };
    if now.next != expected {
        return Err(
            StoreError::ChangedElsewhere { id: id.to_owned(), expected, next: now.next }.into()
        );
    }
    Ok(now)
}

/// Inserts the conversation at sequence 0. An existing one is unchanged: its sequence number will differ.
fn add_conversation(
    transaction: &Transaction<'_>,
    id: &str,
    new: &NewConversation<'_>,
) -> Result<(), StoreFault> {
    let sql = "INSERT INTO conversations
        (id, project, model, parent, recipe, created_at, updated_at, epoch, next_sequence, turns)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 0, 0, 0) ON CONFLICT (id) DO NOTHING";
    let project = SqlPath(new.project.to_owned());
    let values = params![id, project, new.model, new.parent, new.recipe, new.created_at];
    transaction.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn add_exchange(transaction: &Transaction<'_>, exchange: &Exchange<'_>) -> Result<u64, StoreFault> {
    let id = exchange.conversation_id;
    let now = position(transaction, id, exchange.expected_next)?;
    if let Some(usage) = &exchange.usage {
        add_usage(transaction, id, now.next, usage)?;
    }
    let responses = exchange.entries.iter().filter(|entry| entry.origin == Origin::Model).count();
    let now = ConversationPosition { turns: now.turns + responses as u64, ..now };
    add_entries(transaction, id, now, exchange.entries, exchange.at)
}

/// Records the usage of an exchange; its model becomes the conversation's.
fn add_usage(
    transaction: &Transaction<'_>,
    id: &str,
    sequence: u64,
    usage: &ExchangeUsage<'_>,
) -> Result<(), StoreFault> {
    let sql = "INSERT INTO usage
        (conversation_id, sequence, model, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, cost_usd,
         context_window, max_context_window, estimated)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        ON CONFLICT DO UPDATE SET model = excluded.model,
            input_tokens = input_tokens + excluded.input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
            cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
            cost_usd = coalesce(cost_usd + excluded.cost_usd, cost_usd, excluded.cost_usd),
            context_window = excluded.context_window, max_context_window = excluded.max_context_window,
            estimated = max(estimated, excluded.estimated)";
    transaction.prepare_cached(sql)?.execute(params![
        id,
        Number(sequence),
        usage.model,
        Number(usage.turn.input_tokens),
        Number(usage.turn.output_tokens),
        Number(usage.turn.cached_input_tokens),
        Number(usage.turn.cache_write_tokens),
        usage.cost_usd,
        Number(usage.context_window),
        Number(usage.max_context_window),
        usage.estimated,
    ])?;
    let sql = "UPDATE conversations SET model = ?2 WHERE id = ?1 AND model <> ?2";
    transaction.prepare_cached(sql)?.execute(params![id, usage.model])?;
    Ok(())
}

pub(super) fn add_change(
    transaction: &Transaction<'_>,
    epoch: u64,
    change: &HistoryChange<'_>,
) -> Result<(), StoreFault> {
    let sql = "INSERT INTO history_changes (conversation_id, epoch, kind, made_by, reason, at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let kind = change.kind.as_str();
    let values =
        params![change.conversation_id, Number(epoch), kind, change.by, change.reason, change.at];
    transaction.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Inserts `entries` at the position and advances the conversation. Returns the next sequence number.
fn add_entries(
    transaction: &Transaction<'_>,
    id: &str,
    start: ConversationPosition,
    entries: &[HistoryEntry],
    at: &str,
) -> Result<u64, StoreFault> {
    let messages = entries.iter().map(|entry| &entry.message);
    check(messages).map_err(|detail| not_resumable(id, detail))?;
    let mut next = start.next;
    for entry in entries {
        let place = MessagePosition { id, epoch: start.epoch, sequence: next, at };
        add_message(transaction, place, entry)?;
        next += 1;
    }
    let preview = entries.iter().find_map(first_words);
    let sql =
        "UPDATE conversations SET epoch = ?2, next_sequence = ?3, turns = ?4, updated_at = ?5,
        preview = coalesce(preview, ?6), status = NULL WHERE id = ?1";
    let values = params![id, Number(start.epoch), Number(next), Number(start.turns), at, preview];
    transaction.prepare_cached(sql)?.execute(values)?;
    Ok(next)
}

fn not_resumable(id: &str, detail: String) -> StoreError {
    StoreError::NotResumable { id: id.to_owned(), detail }
}

/// The position at which a message is inserted.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessagePosition<'a> {
    /// The conversation.
    pub(super) id: &'a str,
    pub(super) epoch: u64,
    pub(super) sequence: u64,
    /// The time of saving.
    pub(super) at: &'a str,
}

/// Inserts a message and indexes its words.
pub(super) fn add_message(
    transaction: &Transaction<'_>,
    place: MessagePosition<'_>,
    entry: &HistoryEntry,
) -> Result<(), StoreFault> {
    let HistoryEntry { message, origin } = entry;
    let refusal = |detail| not_resumable(place.id, detail);
    let blocks = encoding::write_json(&message.blocks).map_err(refusal)?;
    let native = message.native.as_ref().map(encoding::write_json).transpose().map_err(refusal)?;
    let sql =
        "INSERT INTO messages (conversation_id, epoch, sequence, at, role, origin, blocks, native)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    transaction.prepare_cached(sql)?.execute(params![
        place.id,
        Number(place.epoch),
        Number(place.sequence),
        place.at,
        encoding::role(message.role),
        origin.to_string(),
        blocks,
        native,
    ])?;
    index::add_message(transaction, transaction.last_insert_rowid(), message)
}

/// Returns the preview for a listing, if the entry is a message of the user, a text or a recipe. The texts after the first are
/// notes and what hooks added.
fn first_words(entry: &HistoryEntry) -> Option<String> {
    if !matches!(entry.origin, Origin::User | Origin::Recipe(_)) {
        return None;
    }
    entry.message.blocks.iter().find_map(|block| match block {
        Block::Text { text } => encoding::one_line(text),
        _ => None,
    })
}

/// Checks that a model can continue after `messages`: there is at least one, and every tool call is answered by the
/// message after it, without extra results. Unlike the messages of a mutation they may end with a message of the model:
/// the user is next.
pub(super) fn check<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Result<(), String> {
    let mut open = None;
    for (index, message) in messages.into_iter().enumerate() {
        if open.unwrap_or_default() != answers(message) {
            return Err(format!(
                "the tool results of message {index} do not fit the calls of the message before it"
            ));
        }
        let starting = calls(message);
        if message.role == Role::User && !starting.is_empty() {
            return Err(format!("message {index} is the user's and calls a tool"));
        }
        open = Some(starting);
    }
    match open {
        None => Err("there is no message to save".to_owned()),
        Some(open) if open.is_empty() => Ok(()),
        Some(_) => Err("the last message calls tools, and their results are missing".to_owned()),
    }
}

fn calls(message: &Message) -> BTreeSet<&str> {
    message.tool_calls().map(|call| call.id.as_str()).collect()
}

fn answers(message: &Message) -> BTreeSet<&str> {
    let ids = message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult { call_id, .. } => Some(call_id.as_str()),
        _ => None,
    });
    ids.collect()
}
