//! `/diff`: what the agent changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tenter_agent::snapshot::{FileState, Recorder};
use tenter_base::visible;
use tenter_terminal::text::diff;
use tenter_terminal::{FAINT, Failure, HEADING, NAME, styled, ui};

use super::{CommandContext, SlashResult};
use crate::chat::snapshots;
use crate::chat::words::PathBases;

/// Shows the last turn only.
const LAST: &str = "last";
/// Maximum number of lines shown of one file.
const LINES: usize = 1000;

/// A file's content before and after the changes.
struct FileVersions {
    before: FileState,
    after: FileState,
}

/// Shows what the agent changed in this conversation, in its last turn, or of a file or directory.
pub(super) fn diff(context: &mut CommandContext, argument: &str) -> SlashResult {
    let chat = &*context.chat;
    let recorder = chat.snapshots.required()?;
    let turns = recorder.turns(context.session.conversation_id());
    let mut turns = turns.map_err(|error| snapshots::failed(&error))?;
    turns.retain(|turn| !turn.is_undone);
    if argument == LAST {
        turns.drain(..turns.len().saturating_sub(1));
    }
    let mut changes: BTreeMap<PathBuf, FileVersions> = BTreeMap::new();
    for change in turns.into_iter().flat_map(|turn| turn.changes) {
        changes
            .entry(change.path.0)
            .and_modify(|earlier| earlier.after = change.after.clone())
            .or_insert(FileVersions { before: change.before, after: change.after });
    }
    changes.retain(|_, change| change.before != change.after);
    if changes.is_empty() {
        ui::note("The agent changed no files in this conversation.");
        return Ok(None);
    }
    if !argument.is_empty() && argument != LAST {
        let prefix = PathBases::new(chat.project.env).resolve_argument(argument);
        let prefix = tenter_base::real_path(&prefix).unwrap_or(prefix);
        changes.retain(|path, _| path.starts_with(&prefix));
        if changes.is_empty() {
            let name = visible(argument);
            return Err(Failure::usage(format!("the agent did not change {name}"))
                .help("/diff shows all changes, /diff last those of the last turn"));
        }
    }
    let lines = changes.iter().flat_map(|(path, change)| lines(context, recorder, path, change));
    chat.dialogue.page(&chat.project, &lines.collect::<Vec<_>>());
    Ok(None)
}

fn lines(
    context: &CommandContext,
    recorder: &Recorder,
    path: &Path,
    change: &FileVersions,
) -> Vec<String> {
    use FileState::{Absent, Directory};
    let name = context.chat.snapshots.shown(path);
    let name = styled(HEADING, visible(&name));
    let heading = |what: String| format!("{} {name} {}", styled(NAME, "●"), styled(FAINT, what));
    let (before, after) = match (&change.before, &change.after) {
        // The files in them are shown.
        (Directory { .. } | Absent, Directory { .. } | Absent) => return Vec::new(),
        (before, after) => (text(recorder, before), text(recorder, after)),
    };
    let mut lines = vec![heading(what(change))];
    match (before, after) {
        (Ok(before), Ok(after)) => lines.extend(diff::render_trusted(&before, &after, LINES)),
        (Err(why), _) | (_, Err(why)) => lines.push(styled(FAINT, format!("    {why}"))),
    }
    lines
}

/// Returns the kind of a file's change in a word or two.
fn what(change: &FileVersions) -> String {
    match (&change.before, &change.after) {
        (FileState::Absent, _) => "created".to_owned(),
        (_, FileState::Absent) => "deleted".to_owned(),
        (FileState::File { mode: before, .. }, FileState::File { mode: after, .. })
            if before != after =>
        {
            format!("mode {before:o} to {after:o}")
        }
        _ => "changed".to_owned(),
    }
}

/// Returns the text of a file; nothing for one that does not exist.
///
/// # Errors
/// The reason why it cannot be shown.
fn text(recorder: &Recorder, state: &FileState) -> Result<String, String> {
    match state {
        FileState::Absent | FileState::Directory { .. } => Ok(String::new()),
        FileState::Link { target } => Ok(format!("symlink to {}\n", target.0.display())),
        FileState::Unknown { reason, .. } => Err(reason.as_str().to_owned()),
        FileState::File { size, .. } => {
            let bytes = recorder.content(state).map_err(|error| error.to_string())?;
            let text = String::from_utf8(bytes.unwrap_or_default()).ok();
            let text = text.filter(|text| !text.contains('\0'));
            text.ok_or_else(|| format!("a binary file of {size} bytes"))
        }
    }
}
