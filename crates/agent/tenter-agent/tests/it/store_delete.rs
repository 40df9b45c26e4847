//! Deleted conversations are removed from the tables, the index and the files.

use std::fs;

use tenter_agent::store::{Exchange, ListQuery, NewConversation, Store, StoreError};

use crate::store_fixtures::{
    Scratch, asked, begin, change, exchange, new, new_in, said, spent, worked,
};
use crate::store_search::ids as found;

/// Returns the number of rows in each table that belongs to conversations.
fn rows(scratch: &Scratch) -> Vec<i64> {
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        scratch.raw().query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    ["conversations", "messages", "usage", "history_changes", "message_text_docsize"]
        .iter()
        .map(|table| count(table))
        .collect()
}

fn subagent(store: &Store, id: &str, parent: &str) {
    let new = NewConversation { parent: Some(parent), ..new() };
    store.begin(&new, &exchange(id, 0, &[asked("subagents secret")])).unwrap();
}

#[test]
fn deleting_a_conversation_removes_everything_that_belongs_to_it() {
    let scratch = Scratch::new();
    let store = scratch.open();
    let usage = Some(spent(1, 1));
    store.begin(&new(), &Exchange { usage, ..exchange("kept", 0, &worked(1)) }).unwrap();
    let before = rows(&scratch);
    store.begin(&new(), &Exchange { usage, ..exchange("c", 0, &worked(2)) }).unwrap();
    store.replace_history(&change("c", 4, &[asked("short")])).unwrap();
    subagent(&store, "child", "c");
    subagent(&store, "grandchild", "child");
    assert_eq!(store.delete(&["c".into(), "child".into()]).unwrap(), 3);
    assert_eq!(rows(&scratch), before);
    for id in ["c", "child", "grandchild"] {
        assert!(matches!(store.load(id), Err(StoreError::NotFound { .. })), "{id}");
    }
    assert_eq!(store.load("kept").unwrap().entries.len(), 4);
    scratch.assert_sound();
}

#[test]
fn nothing_is_deleted_if_one_does_not_exist() {
    let store = Store::in_memory().unwrap();
    begin(&store, "c");
    let error = store.delete(&["c".into(), "nonsense".into()]).unwrap_err();
    assert!(
        matches!(&error, StoreError::NotFound { prefix, .. } if prefix == "nonsense"),
        "{error}"
    );
    assert_eq!(store.load("c").unwrap().entries.len(), 2);
}

/// Returns whether any of the store's files contains the bytes.
fn in_files(scratch: &Scratch, text: &str) -> bool {
    let directory = scratch.path().parent().unwrap().to_owned();
    fs::read_dir(directory).unwrap().any(|file| {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[test]
fn deleted_text_is_not_left_in_the_files() {
    let scratch = Scratch::new();
    let store = scratch.open();
    for number in 0..30 {
        let text = format!("number{number} {}", "filling ".repeat(number * 40));
        let id = number.to_string();
        store.begin(&new(), &exchange(&id, 0, &[asked("kept zebra"), said(&text)])).unwrap();
    }
    let secret = [asked("xylophonesecret and more"), said(&"xylophonesecret ".repeat(2000))];
    store.begin(&new(), &exchange("c", 0, &secret)).unwrap();
    assert!(in_files(&scratch, "xylophonesecret"));
    store.delete(&["c".into()]).unwrap();
    assert!(!in_files(&scratch, "xylophonesecret"));
    // The index stores words by their difference to the previous one, so they are checked with SQLite.
    let raw = scratch.raw();
    raw.execute_batch("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, message_text, row)")
        .unwrap();
    let has = |word: &str| {
        let sql = "SELECT count(*) FROM temp.words WHERE term = ?1";
        raw.query_row(sql, [word], |row| row.get::<_, i64>(0)).unwrap() == 1
    };
    assert!(has("zebra") && has("number7") && !has("xylophonesecret"));
    assert_eq!(found(&store, "xylophonesecret"), [] as [&str; 0]);
    assert_eq!(found(&store, "zebra").len(), 30);
    scratch.assert_sound();
}

#[test]
fn a_writer_gets_an_error_after_a_concurrent_delete() {
    let scratch = Scratch::new();
    let (worker, other) = (scratch.open(), scratch.open());
    let next = begin(&worker, "c");
    other.delete(&["c".into()]).unwrap();
    let late = [asked("more")];
    let change = change("c", next, &late);
    for error in [
        worker.append(&exchange("c", next, &late)).unwrap_err(),
        worker.replace_history(&change).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Deleted { .. }), "{error:?}");
        assert!(error.to_string().contains("c was deleted by another process"), "{error}");
    }
    assert_eq!(rows(&scratch), [0; 5], "nothing was restored");
}

#[test]
fn old_conversations_are_those_not_saved_since() {
    let store = Store::in_memory().unwrap();
    let words = [asked("q")];
    for (id, at) in [
        ("old", "2026-01-01T00:00:00Z"),
        ("edge", "2026-02-01T00:00:00Z"),
        ("later", "2026-02-01T00:00:00.5Z"),
    ] {
        store.begin(&new(), &Exchange { at, ..exchange(id, 0, &words) }).unwrap();
    }
    let other = new_in(std::path::Path::new("/work/other"));
    store
        .begin(&other, &Exchange { at: "2025-01-01T00:00:00Z", ..exchange("elsewhere", 0, &words) })
        .unwrap();
    subagent(&store, "orphan", "gone");
    subagent(&store, "child", "later");
    let older = |before: &str, project| {
        let old = store.older_than(before, project).unwrap();
        old.into_iter().map(|summary| summary.id).collect::<Vec<_>>()
    };
    assert_eq!(older("2026-02-01T00:00:00Z", None), ["old", "elsewhere"]);
    assert_eq!(older("2026-02-01T00:00:00.1Z", Some(new().project)), ["edge", "old"]);
    assert_eq!(
        older("2027-01-01T00:00:00Z", Some(new().project)),
        ["orphan", "later", "edge", "old"]
    );
    let all = ListQuery { project: None, limit: 9, include_subagents: true };
    let ids: Vec<String> = store
        .older_than("2027-01-01T00:00:00Z", None)
        .unwrap()
        .into_iter()
        .map(|one| one.id)
        .collect();
    assert_eq!(store.delete(&ids).unwrap(), 6);
    assert_eq!(store.list(&all).unwrap(), []);
}
