//! Reads the database. Every function sees one consistent snapshot of it.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use tenter_protocol::event::{TurnUsage, Usage};

use super::encoding::{MessageRow, Number, SqlPath};
use super::error::StoreFault;
use super::{
    Epoch, ListQuery, RecordedChange, Store, StoreError, StoredConversation, StoredEntry, Summary,
};

/// Maximum number of ids in an error message.
const NAMED: i64 = 10;

/// The position of a conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConversationPosition {
    /// The current epoch.
    pub(super) epoch: u64,
    /// The next sequence number.
    pub(super) next: u64,
    /// The number of model responses.
    pub(super) turns: u64,
}

impl Store {
    /// Loads a conversation with its current history.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Unreadable`], or SQLite's error.
    pub fn load(&self, id: &str) -> Result<StoredConversation, StoreError> {
        self.read(|view| {
            let ConversationPosition { epoch, next, turns } = position(view, id)?;
            let summary = summary(view, id)?;
            let entries = entries(view, id, epoch)?;
            let callback_failures = callback_failures(view, id)?;
            Ok(StoredConversation { summary, entries, next, turns, callback_failures })
        })
    }

    /// Returns all histories of the conversation in order, each with the change that started it (R36).
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn history(&self, id: &str) -> Result<Vec<Epoch>, StoreError> {
        self.read(|view| {
            let last = position(view, id)?.epoch;
            let mut changes = changes(view, id)?;
            let epoch = |number| {
                Ok(Epoch {
                    number,
                    change: changes.remove(&number),
                    entries: entries(view, id, number)?,
                })
            };
            (0..=last).map(epoch).collect()
        })
    }

    /// Returns the full id of the one conversation whose id is or starts with `prefix`.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] with ids that contain `prefix` elsewhere, [`StoreError::Ambiguous`] with those that start
    /// with it, or SQLite's error.
    pub fn find(&self, prefix: &str) -> Result<String, StoreError> {
        self.read(|view| {
            if prefix.is_empty() {
                return Err(not_found(prefix, Vec::new()).into());
            }
            let exact = "SELECT id FROM conversations WHERE id = ?1";
            if let Some(id) = view.query_row(exact, [prefix], |row| row.get(0)).optional()? {
                return Ok(id);
            }
            let mut ids = ids_where(view, "substr(id, 1, length(?1)) = ?1", prefix)?;
            match ids.len() {
                0 => Err(not_found(prefix, ids_where(view, "instr(id, ?1) > 0", prefix)?).into()),
                1 => Ok(ids.swap_remove(0)),
                _ => Err(StoreError::Ambiguous { prefix: prefix.to_owned(), ids }.into()),
            }
        })
    }

    /// Returns the conversation that was saved last, of one project or of all; conversations of subagents are ignored.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn newest(&self, project: Option<&Path>) -> Result<Option<String>, StoreError> {
        self.read(|view| {
            let query = ListQuery { project, limit: 1, include_subagents: false };
            Ok(listed(view, &query)?.pop())
        })
    }

    /// Returns conversations, the last saved first.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn list(&self, query: &ListQuery<'_>) -> Result<Vec<Summary>, StoreError> {
        self.read(|view| listed(view, query)?.iter().map(|id| summary(view, id)).collect())
    }
}

fn callback_failures(
    view: &Transaction<'_>,
    id: &str,
) -> Result<BTreeMap<String, u32>, StoreFault> {
    let sql = "SELECT recipe, failures FROM callback_failures WHERE conversation_id = ?1";
    let mut statement = view.prepare_cached(sql)?;
    let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn not_found(prefix: &str, near: Vec<String>) -> StoreError {
    StoreError::NotFound { prefix: prefix.to_owned(), near }
}

pub(super) fn position(
    view: &Transaction<'_>,
    id: &str,
) -> Result<ConversationPosition, StoreFault> {
    let mut statement =
        view.prepare_cached("SELECT epoch, next_sequence, turns FROM conversations WHERE id = ?1")?;
    let position = statement.query_row([id], |row| {
        Ok(ConversationPosition {
            epoch: number(row, 0)?,
            next: number(row, 1)?,
            turns: number(row, 2)?,
        })
    });
    position.optional()?.ok_or_else(|| not_found(id, Vec::new()).into())
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, Number>(column).map(|Number(number)| number)
}

/// Returns the messages of one epoch.
pub(super) fn entries(
    view: &Transaction<'_>,
    id: &str,
    epoch: u64,
) -> Result<Vec<StoredEntry>, StoreFault> {
    let mut statement = view.prepare_cached(
        "SELECT sequence, at, role, origin, blocks, native FROM messages
         WHERE conversation_id = ?1 AND epoch = ?2 ORDER BY sequence",
    )?;
    let rows = statement.query_map(params![id, Number(epoch)], |row| {
        Ok(MessageRow {
            sequence: number(row, 0)?,
            at: row.get(1)?,
            role: row.get(2)?,
            origin: row.get(3)?,
            blocks: row.get(4)?,
            native: row.get(5)?,
        })
    })?;
    let message = |row: rusqlite::Result<MessageRow>| {
        let row = row?;
        let sequence = row.sequence;
        let unreadable = |detail| StoreError::Unreadable { id: id.to_owned(), sequence, detail };
        row.read().map_err(|detail| unreadable(detail).into())
    };
    rows.map(message).collect()
}

/// Returns the change that started each epoch but the first.
fn changes(view: &Transaction<'_>, id: &str) -> Result<BTreeMap<u64, RecordedChange>, StoreFault> {
    let mut statement = view.prepare_cached(
        "SELECT epoch, kind, made_by, reason, at FROM history_changes WHERE conversation_id = ?1",
    )?;
    let rows = statement.query_map([id], |row| {
        let (kind, by, reason, at) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        let change = RecordedChange { kind, by, reason, at };
        Ok((number(row, 0)?, change))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn summary(view: &Transaction<'_>, id: &str) -> Result<Summary, StoreFault> {
    let usage = usage(view, id)?;
    let mut statement = view.prepare_cached(
        "SELECT created_at, updated_at, project, model, parent, recipe, preview, status,
            (SELECT count(*) FROM messages
             WHERE messages.conversation_id = conversations.id AND messages.epoch = conversations.epoch),
            forked_from
         FROM conversations WHERE id = ?1",
    )?;
    let summary = statement.query_row([id], |row| {
        Ok(Summary {
            id: id.to_owned(),
            created_at: row.get(0)?,
            updated_at: row.get(1)?,
            project: row.get::<_, SqlPath>(2)?.0,
            model: row.get(3)?,
            parent: row.get(4)?,
            recipe: row.get(5)?,
            preview: row.get::<_, Option<String>>(6)?.unwrap_or_default(),
            status: row.get(7)?,
            message_count: number(row, 8)?,
            forked_from: row.get(9)?,
            usage,
        })
    })?;
    Ok(summary)
}

/// Returns sums over the conversation and its subagents, and the usage of its own last exchange.
fn usage(view: &Transaction<'_>, id: &str) -> Result<Usage, StoreFault> {
    let own = last_exchange(view, id)?;
    // `total` adds floating point numbers and cannot overflow; below 2^53 tokens it is exact.
    let mut sums = view.prepare_cached(
        "WITH RECURSIVE family (id) AS (
            SELECT ?1 UNION SELECT child.id FROM conversations AS child JOIN family ON child.parent = family.id)
         SELECT CAST(total(input_tokens) AS INTEGER), CAST(total(output_tokens) AS INTEGER),
            coalesce(max(estimated), 0), sum(cost_usd)
         FROM family JOIN usage ON usage.conversation_id = family.id",
    )?;
    let usage = sums.query_row([id], |row| {
        Ok(Usage {
            input_tokens: number(row, 0)?,
            output_tokens: number(row, 1)?,
            estimated: row.get(2)?,
            cost_usd: row.get(3)?,
            ..own
        })
    })?;
    Ok(usage)
}

/// Returns the usage of the conversation's own last exchange.
fn last_exchange(view: &Transaction<'_>, id: &str) -> Result<Usage, StoreFault> {
    let mut last = view.prepare_cached(
        "SELECT input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, iif(sequence >= (
            SELECT min(sequence) FROM messages JOIN conversations AS own USING (epoch)
            WHERE own.id = ?1 AND messages.conversation_id = ?1), context_window, 0), max_context_window
         FROM usage WHERE conversation_id = ?1 ORDER BY sequence DESC LIMIT 1",
    )?;
    let last = last.query_row([id], |row| {
        let turn = TurnUsage {
            input_tokens: number(row, 0)?,
            output_tokens: number(row, 1)?,
            cached_input_tokens: number(row, 2)?,
            cache_write_tokens: number(row, 3)?,
        };
        let current_context_window = number(row, 4)?;
        let max_context_window = number(row, 5)?;
        Ok(Usage { turn, current_context_window, max_context_window, ..Usage::default() })
    });
    Ok(last.optional()?.unwrap_or_default())
}

/// Returns the ids of the conversations to list. Among conversations saved at the same time, the one created last comes first.
fn listed(view: &Transaction<'_>, query: &ListQuery<'_>) -> Result<Vec<String>, StoreFault> {
    let mut statement = view.prepare_cached(
        "SELECT id FROM conversations WHERE (?1 OR parent IS NULL) AND (?2 IS NULL OR project = ?2)
         ORDER BY rtrim(updated_at, 'Z') DESC, rowid DESC LIMIT ?3",
    )?;
    let project = query.project.map(|path| SqlPath(path.to_owned()));
    let limit = Number(query.limit as u64);
    let ids =
        statement.query_map(params![query.include_subagents, project, limit], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns some ids that satisfy `condition` for `?1`, the latest first.
fn ids_where(
    view: &Transaction<'_>,
    condition: &str,
    value: &str,
) -> Result<Vec<String>, StoreFault> {
    let sql = format!(
        "SELECT id FROM conversations WHERE {condition} ORDER BY rtrim(updated_at, 'Z') DESC, rowid DESC LIMIT ?2"
    );
    let mut statement = view.prepare_cached(&sql)?;
    let ids = statement.query_map(params![value, NAMED], |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}
