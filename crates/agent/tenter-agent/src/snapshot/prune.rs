//! Removes old snapshots: those of conversations that were not changed for a month, and the oldest ones if there are too many.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::state::FileState;
use super::survey::ProjectState;
use super::turn::{self, ConversationShelf, OpenTurn, Shelf};

/// Age after which the snapshots of a conversation are removed.
const MAX_AGE: Duration = Duration::from_hours(24 * 30);
/// Maximum size of all contents, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Removes old snapshots in `directory`, but not those of the conversation in `present`. What cannot be removed is tried again
/// another time.
pub(super) fn prune(directory: &Path, present: &Path) {
    prune_to(directory, present, MAX_AGE, MAX_BYTES);
}

fn prune_to(directory: &Path, present: &Path, age: Duration, most: u64) {
    let shelves = shelves(directory);
    let mut conversations: Vec<(&Shelf, ConversationShelf)> = shelves
        .iter()
        .flat_map(|shelf| shelf.all().into_iter().map(move |one| (shelf, one)))
        .filter(|(_, one)| one.directory() != present)
        .collect();
    conversations.sort_by_key(|(_, one)| one.changed());
    let is_old = |one: &ConversationShelf| {
        one.changed().is_none_or(|time| time.elapsed().is_ok_and(|passed| passed > age))
    };
    let size = |shelf: &Shelf, always| swept(shelf, always).unwrap_or(0);
    let mut bytes: u64 = shelves.iter().map(|shelf| size(shelf, false)).sum();
    for (shelf, one) in conversations {
        if bytes > most || is_old(&one) {
            let before = size(shelf, false);
            let _ = fs::remove_dir_all(one.directory());
            bytes = bytes.saturating_sub(before.saturating_sub(size(shelf, true)));
        }
    }
}

/// Removes the snapshots of these conversations, in all projects.
///
/// # Errors
/// They cannot be removed.
pub fn forget(directory: &Path, conversations: &[String]) -> io::Result<()> {
    for shelf in shelves(directory) {
        let mut found = false;
        for id in conversations {
            match fs::remove_dir_all(shelf.of(id).directory()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => {
                    removed?;
                    found = true;
                }
            }
        }
        if found {
            swept(&shelf, true)?;
        }
    }
    Ok(())
}

fn shelves(directory: &Path) -> Vec<Shelf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| Shelf::new(entry.path())).collect()
}

/// Removes contents that no record names: if `always` is not set, only when there are many. Returns the size of the others.
fn swept(shelf: &Shelf, always: bool) -> io::Result<u64> {
    let _lock = shelf.lock()?;
    let mut named = HashSet::new();
    for conversation in shelf.all() {
        named.extend(contents(&conversation)?);
    }
    shelf.objects.retain(&named, always)
}

/// The contents that the records of a conversation name.
fn contents(conversation: &ConversationShelf) -> io::Result<Vec<String>> {
    let mut states: Vec<FileState> = Vec::new();
    let base: Option<ProjectState> = turn::read(&conversation.base_file())?;
    states
        .extend(base.into_iter().flat_map(|base| base.files.into_values()).map(|file| file.state));
    let open: Option<OpenTurn> = turn::read(&conversation.open_file())?;
    states.extend(open.into_iter().flat_map(|open| open.touched).map(|(_, state)| state));
    let changes = conversation.records()?.into_iter().flat_map(|turn| turn.changes);
    states.extend(changes.flat_map(|change| [change.before, change.after]));
    let content = |state| match state {
        FileState::File { content, .. } => Some(content),
        _ => None,
    };
    Ok(states.into_iter().filter_map(content).collect())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn old_and_too_many_snapshots_are_removed_but_not_those_in_use() {
        let scratch = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(scratch.path().join("project"));
        let ids = ["one", "two", "three"];
        for (age, id) in ids.iter().rev().enumerate() {
            let _lock = shelf.lock().unwrap();
            let writer = shelf.objects.writer().unwrap();
            let content = writer.put(id.repeat(100).as_bytes()).unwrap();
            writer.finish().unwrap();
            let state = FileState::File { content, size: 0, mode: 0o600 };
            let open = serde_json::json!({
                "heading": {"number": 1, "at": "", "message": "", "since_ns": 0},
                "touched": [["/x", state]],
                "has_base": false,
            });
            turn::write(&shelf.of(id).open_file(), &open).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_hours(10 - age as u64);
            fs::File::open(shelf.of(id).directory()).unwrap().set_modified(time).unwrap();
        }
        let left = || -> Vec<&str> {
            ids.into_iter().filter(|id| shelf.of(id).directory().exists()).collect()
        };
        let present = shelf.of("three").directory().to_owned();
        prune_to(scratch.path(), &present, Duration::MAX, 1 << 20);
        assert_eq!(left(), ids);
        prune_to(scratch.path(), &present, Duration::MAX, 900);
        assert_eq!(left(), ["two", "three"]);
        prune_to(scratch.path(), &present, Duration::from_hours(1), 1 << 20);
        assert_eq!(left(), ["three"]);
        assert_eq!(swept(&shelf, false).unwrap(), 500);
    }
}
