//! Undoes and redoes turns: plans which files change, and restores them one by one.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::beneath::{FileContent, FileHandle};
use super::recorder::Recorder;
use super::state::FileState;
use super::turn::{FileChange, TurnRecord};

/// Whether files become what they were before a turn, or what the turn left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// As before the turn.
    Undo,
    /// As the turn left them.
    Redo,
}

/// What restoring a turn would do.
#[derive(Debug)]
pub struct RestorePlan {
    /// The turn.
    pub turn: TurnRecord,
    /// The direction.
    pub direction: Direction,
    /// The files.
    pub steps: Vec<RestoreStep>,
}

/// What restoring one file would do.
#[derive(Debug, Clone)]
pub struct RestoreStep {
    /// The file.
    pub path: PathBuf,
    /// What it is now, if that can be restored later.
    pub from: FileState,
    /// What it becomes.
    pub to: FileState,
    /// Whether it can be restored.
    pub standing: Standing,
}

/// Whether a file can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is as the turn left it.
    Ready,
    /// It is restored already.
    Done,
    /// It was changed since.
    ChangedSince,
    /// It cannot be restored, for this reason.
    Impossible(String),
}

/// What restoring did.
#[derive(Debug, Default)]
pub struct RestoreResult {
    /// The restored files.
    pub restored: Vec<PathBuf>,
    /// Files that could not be restored, with the reason.
    pub failed: Vec<(PathBuf, String)>,
    /// Directories of the turn that are kept because there are other files in them.
    pub kept: Vec<PathBuf>,
}

impl RestorePlan {
    /// The files that were changed since.
    pub fn changed_since(&self) -> impl Iterator<Item = &RestoreStep> {
        self.steps.iter().filter(|step| step.standing == Standing::ChangedSince)
    }
}

impl Recorder {
    /// Plans to undo the last turn that is not undone; `None` if there is none.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn plan_undo(&self, conversation: &str) -> io::Result<Option<RestorePlan>> {
        let last = self.turns(conversation)?.into_iter().rfind(|turn| !turn.is_undone);
        Ok(last.map(|turn| self.plan(turn, Direction::Undo)))
    }

    /// Plans to redo the turn that was undone last; `None` if there is none, or if a turn changed files since.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn plan_redo(&self, conversation: &str) -> io::Result<Option<RestorePlan>> {
        let turns = self.turns(conversation)?;
        let undone =
            turns.into_iter().rev().take_while(|turn| turn.is_undone && !turn.is_dropped).last();
        Ok(undone.map(|turn| self.plan(turn, Direction::Redo)))
    }

    fn plan(&self, turn: TurnRecord, direction: Direction) -> RestorePlan {
        let steps = turn.changes.iter().map(|change| self.step(change, direction)).collect();
        RestorePlan { turn, direction, steps }
    }

    fn step(&self, change: &FileChange, direction: Direction) -> RestoreStep {
        let (from, to) = match direction {
            Direction::Undo => (&change.after, &change.before),
            Direction::Redo => (&change.before, &change.after),
        };
        let standing = self.standing(&change.path.0, from, to);
        RestoreStep { path: change.path.0.clone(), from: from.clone(), to: to.clone(), standing }
    }

    fn standing(&self, path: &Path, from: &FileState, to: &FileState) -> Standing {
        if let FileState::Unknown { reason, .. } = to {
            return Standing::Impossible(reason.as_str().to_owned());
        }
        let now = match FileHandle::open(&self.settings.roots, path) {
            Ok(place) => place.read().map(described),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileState::Absent),
            // The turn may have put a file where a directory was. Restoring follows no symlink.
            Err(_) if *from == FileState::Absent => Ok(FileState::Absent),
            Err(error) => Err(error),
        };
        match now {
            Ok(now) if now == *to => Standing::Done,
            Ok(now) if now == *from => Standing::Ready,
            Ok(_) => Standing::ChangedSince,
            Err(error) => Standing::Impossible(error.to_string()),
        }
    }

    /// Restores the files of a plan; those that were changed since only with `changed_too`. A turn of which nothing is left to
    /// restore counts as undone, or redone.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn restore(
        &self,
        conversation: &str,
        plan: RestorePlan,
        changed_too: bool,
    ) -> io::Result<RestoreResult> {
        let mut result = RestoreResult::default();
        let is_wanted = |step: &&RestoreStep| match step.standing {
            Standing::Ready => true,
            Standing::ChangedSince => changed_too,
            Standing::Done | Standing::Impossible(_) => false,
        };
        let mut steps: Vec<&RestoreStep> = plan.steps.iter().filter(is_wanted).collect();
        steps.sort_by_key(|step| order(step));
        // Directories get their permission bits last, since files in them must be written before.
        self.set_directory_modes(&steps, 0o700);
        for step in &steps {
            match self.apply(step) {
                Ok(()) => result.restored.push(step.path.clone()),
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                    result.kept.push(step.path.clone());
                }
                Err(error) => result.failed.push((step.path.clone(), error.to_string())),
            }
        }
        self.set_directory_modes(&steps, 0);
        // What failed can be tried again, unless it is all that is left.
        if result.failed.is_empty() || result.restored.is_empty() {
            let is_undone = plan.direction == Direction::Undo;
            let record = TurnRecord { is_undone, ..plan.turn };
            self.shelf.of(conversation).write_record(&record)?;
        }
        Ok(result)
    }

    /// Sets the permission bits of directories that exist, and of `more`. Errors show when a file in one cannot be restored.
    fn set_directory_modes(&self, steps: &[&RestoreStep], more: u32) {
        for step in steps.iter().rev() {
            if let FileState::Directory { mode } = step.to
                && let Ok(place) = FileHandle::open(&self.settings.roots, &step.path)
                && matches!(place.read(), Ok(FileContent::Other(FileState::Directory { .. })))
            {
                let _ = place.make_directory(mode | more);
            }
        }
    }

    fn apply(&self, step: &RestoreStep) -> io::Result<()> {
        let roots = &self.settings.roots;
        let is_directory = |place: &FileHandle| {
            matches!(place.read(), Ok(FileContent::Other(FileState::Directory { .. })))
        };
        match &step.to {
            FileState::Absent => {
                let place = FileHandle::open(roots, &step.path)?;
                if is_directory(&place) { place.remove_directory() } else { place.remove() }
            }
            FileState::Directory { mode } => {
                let place = FileHandle::create(roots, &step.path)?;
                if !is_directory(&place)
                    && !matches!(place.read()?, FileContent::Other(FileState::Absent))
                {
                    place.remove()?;
                }
                place.make_directory(*mode | 0o700)
            }
            FileState::File { content, mode, .. } => {
                let bytes = self.shelf.content(content)?;
                let place = FileHandle::create(roots, &step.path)?;
                if is_directory(&place) {
                    place.remove_directory()?;
                }
                place.write(&bytes, *mode)
            }
            FileState::Link { target } => {
                let place = FileHandle::create(roots, &step.path)?;
                if is_directory(&place) {
                    place.remove_directory()?;
                }
                place.link(&target.0)
            }
            FileState::Unknown { reason, .. } => Err(io::Error::other(reason.as_str())),
        }
    }

    /// The content of a file in a state of a record; `None` if it is not a regular file.
    ///
    /// # Errors
    /// The stored copy cannot be read.
    pub fn content(&self, state: &FileState) -> io::Result<Option<Vec<u8>>> {
        match state {
            FileState::File { content, .. } => self.shelf.content(content).map(Some),
            _ => Ok(None),
        }
    }

    /// What the model does not know yet: the files that the user restored since its last turn, and whether by undoing.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn news(&self, conversation: &str) -> io::Result<Vec<(Direction, BTreeSet<PathBuf>)>> {
        let turns = self.turns(conversation)?;
        let news = [Direction::Undo, Direction::Redo].map(|direction| {
            let is_undone = direction == Direction::Undo;
            let of_direction =
                turns.iter().filter(|turn| turn.is_news() && turn.is_undone == is_undone);
            let changes = of_direction.flat_map(|turn| &turn.changes);
            (direction, changes.map(|change| change.path.0.clone()).collect())
        });
        Ok(news
            .into_iter()
            .filter(|(_, paths): &(_, BTreeSet<PathBuf>)| !paths.is_empty())
            .collect())
    }

    /// Records that the model knows the news.
    ///
    /// # Errors
    /// The records cannot be written.
    pub fn told(&self, conversation: &str) -> io::Result<()> {
        let shelf = self.shelf.of(conversation);
        for turn in shelf.records()?.into_iter().filter(TurnRecord::is_news) {
            let told_undone = turn.is_undone;
            shelf.write_record(&TurnRecord { told_undone, ..turn })?;
        }
        Ok(())
    }
}

/// A found file without storing its content.
fn described(found: FileContent) -> FileState {
    use sha2::{Digest as _, Sha256};
    match found {
        FileContent::Other(state) => state,
        FileContent::File { bytes, mode, .. } => FileState::File {
            content: tenter_base::hex(&Sha256::digest(&bytes)),
            size: bytes.len() as u64,
            mode,
        },
    }
}

/// The order in which files are restored: deletions from the bottom up, then directories, then files.
fn order(step: &RestoreStep) -> (u8, std::cmp::Reverse<usize>, PathBuf) {
    let depth = step.path.components().count();
    let (group, depth) = match step.to {
        FileState::Absent => (0, depth),
        FileState::Directory { .. } => (1, usize::MAX - depth),
        _ => (2, 0),
    };
    (group, std::cmp::Reverse(depth), step.path.clone())
}
