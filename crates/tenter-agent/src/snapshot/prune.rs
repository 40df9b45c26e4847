//! Removes old snapshots: those of conversations that were not changed for a month, and the oldest ones if there are too many.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
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
    let mut bytes: u64 = shelves.iter().map(|shelf| swept(shelf).unwrap_or(0)).sum();
    for (shelf, one) in conversations {
        if bytes > most || is_old(&one) {
            let before = size_of(shelf);
            let _ = fs::remove_dir_all(one.directory());
            bytes = bytes.saturating_sub(before.saturating_sub(swept(shelf).unwrap_or(before)));
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
            swept(&shelf)?;
        }
    }
    Ok(())
}

fn shelves(directory: &Path) -> Vec<Shelf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| Shelf::new(entry.path())).collect()
}

/// Removes contents that no record names. Returns the size of the others.
fn swept(shelf: &Shelf) -> io::Result<u64> {
    let _lock = shelf.lock()?;
    let mut named = HashSet::new();
    for conversation in shelf.all() {
        named.extend(contents(&conversation)?);
    }
    let mut bytes = 0;
    for (path, content) in objects(shelf) {
        if named.contains(&content) {
            bytes += fs::metadata(&path).map_or(0, |found| found.len());
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(bytes)
}

fn size_of(shelf: &Shelf) -> u64 {
    objects(shelf).map(|(path, _)| fs::metadata(path).map_or(0, |found| found.len())).sum()
}

/// The files of contents, with their names.
fn objects(shelf: &Shelf) -> impl Iterator<Item = (PathBuf, String)> {
    let starts = fs::read_dir(shelf.objects.directory()).into_iter().flatten().flatten();
    starts.flat_map(|start| {
        let prefix = start.file_name().to_string_lossy().into_owned();
        let rest = fs::read_dir(start.path()).into_iter().flatten().flatten();
        rest.map(move |file| {
            (file.path(), format!("{prefix}{}", file.file_name().to_string_lossy()))
        })
    })
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
