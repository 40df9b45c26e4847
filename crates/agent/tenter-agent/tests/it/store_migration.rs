//! Opens a file that the first version created.

use std::fs;

use serde_json::json;
use tenter_agent::store::{ListQuery, Store};
use tenter_protocol::json;

use crate::store_fixtures::{AT, Scratch, asked, exchange, present, worked};
use crate::store_search::ids as found;

/// Creates the file as the first version did, with its first messages.
fn first_version(scratch: &Scratch) -> rusqlite::Connection {
    fs::create_dir_all(scratch.path().parent().unwrap()).unwrap();
    let raw = scratch.raw();
    raw.execute_batch("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON").unwrap();
    raw.execute_batch(include_str!("../../src/store/migrations/0001_conversations.sql")).unwrap();
    raw.pragma_update(None, "application_id", i32::from_be_bytes(*b"tntr")).unwrap();
    raw.pragma_update(None, "user_version", 1).unwrap();
    raw
}

fn conversation(raw: &rusqlite::Connection, id: &str, messages: usize) {
    let sql = "INSERT INTO conversations
        (id, project, model, created_at, updated_at, status, preview, epoch, next_sequence, turns)
        VALUES (?1, '/work/shop', 'scripted/plain', ?2, ?2, 'done', 'question', 0, ?3, 0)";
    raw.execute(sql, rusqlite::params![id, AT, i64::try_from(messages).unwrap()]).unwrap();
}

fn message(raw: &rusqlite::Connection, id: &str, sequence: usize, content: (&str, &str, String)) {
    let sql = "INSERT INTO messages (conversation_id, epoch, sequence, at, role, origin, blocks)
        VALUES (?1, 0, ?2, ?3, ?4, ?5, ?6)";
    let (role, origin, blocks) = content;
    let sequence = i64::try_from(sequence).unwrap();
    raw.execute(sql, rusqlite::params![id, sequence, AT, role, origin, blocks]).unwrap();
}

#[test]
fn conversations_of_the_first_version_are_loaded_and_found() {
    let scratch = Scratch::new();
    let raw = first_version(&scratch);
    conversation(&raw, "c", 4);
    for (sequence, entry) in worked(1).iter().enumerate() {
        let role = json!(entry.message.role);
        let blocks = json::to_string(&entry.message.blocks);
        message(&raw, "c", sequence, (role.as_str().unwrap(), &entry.origin.to_string(), blocks));
    }
    raw.execute("INSERT INTO usage VALUES ('c', 0, 10, 5, 15, 200000, 0)", []).unwrap();
    conversation(&raw, "odd", 1);
    message(&raw, "odd", 0, ("user", "user", r#"[{"type": "hologram"}]"#.into()));
    drop(raw);

    let store = scratch.open();
    let mut without_native = worked(1);
    for entry in &mut without_native {
        entry.message.native = None;
    }
    assert_eq!(present(&store, "c"), without_native);
    let usage = store.load("c").unwrap().summary.usage;
    assert_eq!((usage.input_tokens, usage.turn.output_tokens, usage.cost_usd), (10, 5, None));
    for words in ["question 1", "looking", "thought", "echo"] {
        assert_eq!(found(&store, words), ["c"], "{words}");
    }
    // An unreadable message does not stop the migration.
    let all = ListQuery { project: None, limit: 9, include_subagents: true };
    assert_eq!(store.list(&all).unwrap().len(), 2);
    assert!(store.load("odd").unwrap_err().to_string().contains("hologram"));
    store.append(&exchange("c", 4, &[asked("zebra")])).unwrap();
    assert_eq!(found(&store, "zebra"), ["c"]);
    assert_eq!(store.delete(&["c".into(), "odd".into()]).unwrap(), 2);
    scratch.assert_sound();
}

#[test]
fn ten_thousand_messages_are_indexed_by_the_migration() {
    let scratch = Scratch::new();
    let raw = first_version(&scratch);
    raw.execute_batch("BEGIN").unwrap();
    for conversation_number in 0..10 {
        let id = conversation_number.to_string();
        conversation(&raw, &id, 1000);
        for sequence in 0..1000 {
            let text =
                format!("word{} {}", conversation_number * 1000 + sequence, "filling ".repeat(20));
            let blocks = json::to_string(&json!([{"type": "text", "text": text}]));
            message(&raw, &id, sequence, ("user", "user", blocks));
        }
    }
    raw.execute_batch("COMMIT").unwrap();
    drop(raw);
    let store = Store::open(&scratch.path()).unwrap();
    for number in (0..10_000).step_by(97).chain([9_999]) {
        // A prefix matches more than one.
        let whole = format!("word{number} filling");
        assert_eq!(found(&store, &whole), [(number / 1000).to_string()], "{whole}");
    }
    assert_eq!(found(&store, "filling").len(), 10);
    scratch.assert_sound();
}
