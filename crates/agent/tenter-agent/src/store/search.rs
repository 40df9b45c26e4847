//! Full-text search in conversations.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use tenter_protocol::Message;

use super::encoding::{self, Number, SqlPath};
use super::error::StoreFault;
use super::{SearchHit, SearchQuery, Store, StoreError, index, read};

/// Approximate number of words in a snippet.
const SNIPPET: i32 = 16;

impl Store {
    /// Returns the conversations with a message, of the current or an earlier history, that contains all the words: the best
    /// match first. Case and accents are ignored.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn search(&self, query: &SearchQuery<'_>) -> Result<Vec<SearchHit>, StoreError> {
        let Some(pattern) = pattern(query.words) else { return Ok(Vec::new()) };
        self.read(|view| {
            let snippets = Snippets::new(&pattern)?;
            let hits = hits(view, query, &pattern)?;
            hits.iter()
                .map(|hit| {
                    let summary = read::summary(view, &hit.conversation)?;
                    let snippet = snippets.snippet(message(view, hit.message)?.as_ref())?;
                    Ok(SearchHit { summary, snippet })
                })
                .collect()
        })
    }
}

/// Returns the words as a query: each quoted, so that no character in it has a meaning, and the last as a prefix. `None` if there
/// is no word.
fn pattern(words: &str) -> Option<String> {
    let words = words.split(|c: char| c.is_whitespace() || c.is_control());
    let words_in_quotes: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    if words_in_quotes.is_empty() { None } else { Some(words_in_quotes.join(" ") + "*") }
}

/// A conversation, and the row of its best matching message.
struct MessageHit {
    conversation: String,
    message: i64,
}

fn hits(
    view: &Transaction<'_>,
    query: &SearchQuery<'_>,
    pattern: &str,
) -> Result<Vec<MessageHit>, StoreFault> {
    // The better a match, the lower its rank. With min(), the other columns come from the row with the minimum.
    let mut statement = view.prepare_cached(
        "WITH hits AS MATERIALIZED (
            SELECT rowid AS message, rank AS distance FROM message_text WHERE message_text MATCH ?1)
         SELECT conversations.id, messages.id, min(distance) AS best
         FROM hits JOIN messages ON messages.id = hits.message
            JOIN conversations ON conversations.id = messages.conversation_id
         WHERE (?2 OR parent IS NULL) AND (?3 IS NULL OR project = ?3)
         GROUP BY conversations.id
         ORDER BY best, rtrim(updated_at, 'Z') DESC, conversations.rowid DESC LIMIT ?4",
    )?;
    let among = &query.among;
    let project = among.project.map(|path| SqlPath(path.to_owned()));
    let limit = Number(among.limit as u64);
    let values = params![pattern, among.include_subagents, project, limit];
    let hits = statement.query_map(values, |row| {
        Ok(MessageHit { conversation: row.get(0)?, message: row.get(1)? })
    })?;
    Ok(hits.collect::<Result<_, _>>()?)
}

/// Returns the message in a row. An unreadable one is in the index only if something else changed it since; it has no snippet
/// then.
fn message(view: &Transaction<'_>, id: i64) -> Result<Option<Message>, StoreFault> {
    let mut statement = view.prepare_cached("SELECT role, blocks FROM messages WHERE id = ?1")?;
    let (role, blocks): (String, String) =
        statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(encoding::read_message(&role, &blocks, None).ok())
}

/// Creates snippets, with a small index in memory that contains text, which the main index does not.
struct Snippets<'p> {
    scratch: Connection,
    pattern: &'p str,
}

impl<'p> Snippets<'p> {
    fn new(pattern: &'p str) -> Result<Self, StoreFault> {
        let scratch = Connection::open_in_memory()?;
        scratch.execute_batch(&format!(
            "CREATE VIRTUAL TABLE said USING fts5 (text, tokenize = '{}')",
            index::TOKENIZER
        ))?;
        Ok(Self { scratch, pattern })
    }

    /// Returns the words around the best match in the message, on one line; empty if there is none, for instance because another
    /// version indexed other words.
    fn snippet(&self, message: Option<&Message>) -> Result<String, StoreFault> {
        let Some(message) = message else { return Ok(String::new()) };
        let text = index::indexed_text(message).replace(char::is_control, " ");
        self.scratch.execute("INSERT OR REPLACE INTO said (rowid, text) VALUES (1, ?1)", [text])?;
        let sql = "SELECT snippet(said, 0, '«', '»', '…', ?2) FROM said WHERE said MATCH ?1";
        let mut statement = self.scratch.prepare_cached(sql)?;
        let snippet = statement.query_row(params![self.pattern, SNIPPET], |row| row.get(0));
        let snippet: String = snippet.optional()?.unwrap_or_default();
        Ok(snippet.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}
