//! Conversations for the tests of the store.

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use tenter_agent::store::{
    ChangeKind, Exchange, ExchangeUsage, HistoryChange, HistoryEntry, NewConversation, Origin,
    Store, StoreError,
};
use tenter_protocol::event::TurnUsage;
use tenter_protocol::tool_metadata::Bash;
use tenter_protocol::{Block, Message, Role, ToolCall, ToolResult};

pub(crate) const AT: &str = "2026-03-01T12:00:00Z";

/// A store in its own temporary directory.
pub(crate) struct Scratch {
    directory: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory().join("state/conversations.sqlite")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    /// Returns the database without the store, as the sqlite3 program would open it.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }

    pub(crate) fn assert_sound(&self) {
        let raw = self.raw();
        let verdict: String =
            raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
        let orphans: i64 = raw
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(orphans, 0);
    }
}

pub(crate) fn new_in(project: &Path) -> NewConversation<'_> {
    NewConversation { project, model: "scripted/plain", parent: None, recipe: None, created_at: AT }
}

pub(crate) fn new() -> NewConversation<'static> {
    new_in(Path::new("/work/shop"))
}

/// Returns a replacement of the history of a conversation by the hook `trim`.
pub(crate) fn change<'a>(
    id: &'a str,
    expected_next: u64,
    entries: &'a [HistoryEntry],
) -> HistoryChange<'a> {
    HistoryChange {
        conversation_id: id,
        expected_next,
        kind: ChangeKind::Mutate,
        by: "trim",
        reason: None,
        entries,
        at: AT,
        usage: None,
    }
}

pub(crate) fn entry(origin: Origin, message: Message) -> HistoryEntry {
    HistoryEntry { message, origin }
}

pub(crate) fn asked(text: &str) -> HistoryEntry {
    entry(Origin::User, Message::user(text))
}

pub(crate) fn said(text: &str) -> HistoryEntry {
    entry(Origin::Model, Message::assistant(text))
}

/// Returns a question, a response with reasoning and a tool call, the tool's result, and an answer; `number` is in each of them.
pub(crate) fn worked(number: usize) -> Vec<HistoryEntry> {
    let call_id = format!("call-{number}");
    let input = json!({"command": format!("echo {number}"), "z": null, "a": [1, -2, true]});
    let call = ToolCall {
        id: call_id.clone(),
        name: "bash".into(),
        input: input.as_object().unwrap().clone(),
    };
    let thought = Block::Reasoning { text: format!("thought {number}") };
    let metadata = Bash {
        command: format!("echo {number}"),
        output: format!("{number}\n\u{0}\u{1b}[1m"),
        ..Bash::default()
    };
    let result = ToolResult::success("bash", &metadata, AT.into());
    let native = json!({"signature": "c2lnbmVk", "kept": {"as": ["it", "is"]}});
    let response = vec![thought, Block::text(format!("looking {number}")), Block::ToolUse(call)];
    let results = vec![Block::ToolResult { call_id, result }];
    vec![
        asked(&format!("question {number}")),
        entry(
            Origin::Model,
            Message { native: Some(native), ..Message::new(Role::Assistant, response) },
        ),
        entry(Origin::Tools, Message::new(Role::User, results)),
        said(&format!("answer {number}")),
    ]
}

pub(crate) fn spent(input_tokens: u64, output_tokens: u64) -> ExchangeUsage<'static> {
    ExchangeUsage {
        model: new().model,
        turn: TurnUsage { input_tokens, output_tokens, ..TurnUsage::default() },
        cost_usd: None,
        context_window: input_tokens + output_tokens,
        max_context_window: 200_000,
        estimated: false,
    }
}

pub(crate) fn exchange<'a>(
    conversation_id: &'a str,
    expected_next: u64,
    entries: &'a [HistoryEntry],
) -> Exchange<'a> {
    Exchange { conversation_id, expected_next, entries, usage: None, at: AT }
}

/// Creates a conversation with one question and one answer.
pub(crate) fn begin(store: &Store, id: &str) -> u64 {
    store.begin(&new(), &exchange(id, 0, &[asked("question"), said("answer")])).unwrap()
}

/// Appends an exchange; if another process was faster, after its exchange.
pub(crate) fn append_after_all(store: &Store, id: &str, entries: &[HistoryEntry]) -> u64 {
    let mut next = store.load(id).unwrap().next;
    loop {
        match store.append(&exchange(id, next, entries)) {
            Ok(next) => return next,
            Err(StoreError::ChangedElsewhere { next: actual, .. }) => next = actual,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Returns the entries of the current history.
pub(crate) fn present(store: &Store, id: &str) -> Vec<HistoryEntry> {
    store.load(id).unwrap().entries.into_iter().map(|entry| entry.entry).collect()
}
