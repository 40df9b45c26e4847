//! Files that the store creates, and files that it rejects.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tenter_agent::store::{Store, StoreError};

use crate::store_fixtures::{Scratch, begin};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn created_files_are_accessible_only_to_the_owner() {
    let scratch = Scratch::new();
    let store = scratch.open();
    begin(&store, "c");
    assert_eq!(mode(&scratch.directory().join("state")), 0o700);
    for name in ["conversations.sqlite", "conversations.sqlite-wal", "conversations.sqlite-shm"] {
        assert_eq!(mode(&scratch.directory().join("state").join(name)), 0o600, "{name}");
    }
}

#[test]
fn the_settings_suit_a_shared_database() {
    let scratch = Scratch::new();
    drop(scratch.open());
    let raw = scratch.raw();
    let text = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("PRAGMA journal_mode"), "wal");
    assert_eq!(number("PRAGMA user_version"), 3);
    let loose = "SELECT count(*) FROM pragma_table_list
        WHERE schema = 'main' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'message_text%' AND strict = 0";
    assert_eq!(number(loose), 0);
}

#[test]
fn other_files_are_rejected_and_unchanged() {
    let scratch = Scratch::new();
    for content in [
        "a shopping list\n",
        &"long enough to be a database's header ".repeat(100),
        "SQLite format 3\0and then nonsense",
    ] {
        let path = scratch.directory().join("list.txt");
        fs::write(&path, content).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::NotAStore { .. }), "{error:?}");
        assert!(error.to_string().contains("list.txt"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    assert_eq!(fs::read_dir(scratch.directory()).unwrap().count(), 1, "no other file appears");
}

#[test]
fn a_database_of_another_program_is_rejected_and_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.directory().join("theirs.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    let before = fs::read(&path).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_format_is_rejected_and_unchanged() {
    let scratch = Scratch::new();
    begin(&scratch.open(), "c");
    scratch.raw().execute_batch("PRAGMA user_version = 99").unwrap();
    let error = Store::open(&scratch.path()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { format: 99, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("conversations.sqlite") && text.contains("newer version"), "{text}");
    assert_eq!(
        scratch.raw().query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap(),
        99
    );
}

#[test]
fn a_directory_instead_of_the_file_is_named() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path()).unwrap();
    let error = Store::open(&scratch.path()).unwrap_err().to_string();
    assert!(error.contains("conversations.sqlite") && error.contains("directory"), "{error}");
}

#[test]
fn a_file_instead_of_the_directory_is_named() {
    let scratch = Scratch::new();
    fs::write(scratch.directory().join("state"), "").unwrap();
    let error = Store::open(&scratch.path()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Create { path, .. } if path.ends_with("state")),
        "{error:?}"
    );
}

/// Returns true, with a message, for root, to whom permissions mean nothing.
fn skipped_as_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if root {
        tenter_testkit::needs::skipped("user", "root may read and write everything");
    }
    root
}

#[test]
fn a_read_only_file_is_rejected_at_once() {
    if skipped_as_root() {
        return;
    }
    let scratch = Scratch::new();
    begin(&scratch.open(), "c");
    fs::set_permissions(scratch.path(), PermissionsExt::from_mode(0o400)).unwrap();
    let error = Store::open(&scratch.path()).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
}

#[test]
fn a_read_only_directory_is_named() {
    if skipped_as_root() {
        return;
    }
    let scratch = Scratch::new();
    fs::set_permissions(scratch.directory(), PermissionsExt::from_mode(0o500)).unwrap();
    let error = Store::open(&scratch.path()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Create { path, .. } if path.ends_with("state")),
        "{error:?}"
    );
}
