//! Undoes and redoes turns: plans which files change, and restores them one by one.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::beneath::{FileHandle, ReadFile};
use super::database::hash;
use super::recorder::Recorder;
use super::state::FileState;
use super::turn::{TurnFileChange, TurnRecord};

/// The direction in which a turn is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// As before the turn.
    Undo,
    /// As the turn left them.
    Redo,
}

/// A plan to restore the files of a turn.
#[derive(Debug)]
pub struct RestorePlan {
    /// The turn.
    pub turn: TurnRecord,
    /// The direction.
    pub direction: Direction,
    /// The files.
    pub steps: Vec<RestoreStep>,
}

/// A step of a plan: one file.
#[derive(Debug, Clone)]
pub struct RestoreStep {
    /// The file.
    pub path: PathBuf,
    /// The state that the turn left, or that undoing it left.
    pub from: FileState,
    /// The state after the step.
    pub to: FileState,
    /// The status of the file.
    pub status: StepStatus,
}

/// The status of a file that is to be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepStatus {
    /// It is as the turn left it.
    Ready,
    /// It is restored already.
    Done,
    /// It was changed since.
    ChangedSince,
    /// It cannot be restored, for this reason.
    Impossible(String),
}

/// The result of restoring a turn.
#[derive(Debug, Default)]
pub struct RestoreResult {
    /// The restored files.
    pub restored_files: Vec<PathBuf>,
    /// Files that could not be restored, with the reason.
    pub failures: Vec<(PathBuf, String)>,
    /// Directories of the turn that are kept because there are other files in them.
    pub dirs: Vec<PathBuf>,
}

impl RestorePlan {
    /// Returns the files that were changed since.
    pub fn changed_since(&self) -> impl Iterator<Item = &RestoreStep> {
        self.steps.iter().filter(|step| step.status == StepStatus::ChangedSince)
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

    fn step(&self, change: &TurnFileChange, direction: Direction) -> RestoreStep {
        let (from, to) = match direction {
            Direction::Undo => (&change.after, &change.before),
            Direction::Redo => (&change.before, &change.after),
        };
        let status = self.status(&change.path.0, from, to);
        RestoreStep { path: change.path.0.clone(), from: from.clone(), to: to.clone(), status }
    }

    fn status(&self, path: &Path, from: &FileState, to: &FileState) -> StepStatus {
        if let FileState::Unknown { reason, .. } = to {
            return StepStatus::Impossible(reason.as_str().to_owned());
        }
        let now = match FileHandle::open(&self.settings.roots, path) {
            Ok(handle) => handle.read().map(without_content),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileState::Absent),
            // The turn may have put a file where a directory was. Restoring follows no symlink.
            Err(_) if *from == FileState::Absent => Ok(FileState::Absent),
            Err(error) => Err(error),
        };
        match now {
            Ok(now) if now == *to => StepStatus::Done,
            Ok(now) if now == *from => StepStatus::Ready,
            Ok(_) => StepStatus::ChangedSince,
            Err(error) => StepStatus::Impossible(error.to_string()),
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
        let is_selected = |step: &&RestoreStep| match step.status {
            StepStatus::Ready => true,
            StepStatus::ChangedSince => changed_too,
            StepStatus::Done | StepStatus::Impossible(_) => false,
        };
        let mut steps: Vec<&RestoreStep> = plan.steps.iter().filter(is_selected).collect();
        steps.sort_by_key(|step| order(step));
        // Directories get their permission bits last, since files in them must be written before.
        self.set_directory_modes(&steps, 0o700);
        for step in &steps {
            match self.apply(step) {
                Ok(()) => result.restored_files.push(step.path.clone()),
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                    result.dirs.push(step.path.clone());
                }
                Err(error) => result.failures.push((step.path.clone(), error.to_string())),
            }
        }
        self.set_directory_modes(&steps, 0);
        // What failed can be tried again, unless it is all that is left.
        if result.failures.is_empty() || result.restored_files.is_empty() {
            let is_undone = plan.direction == Direction::Undo;
            let turn = TurnRecord { is_undone, ..plan.turn };
            self.database.write(|view| view.write_turn(conversation, &turn))?;
        }
        Ok(result)
    }

    /// Sets the permission bits of directories that exist, with `more` bits. Errors show when a file in one cannot be restored.
    fn set_directory_modes(&self, steps: &[&RestoreStep], more: u32) {
        for step in steps.iter().rev() {
            if let FileState::Directory { mode } = step.to
                && let Ok(handle) = FileHandle::open(&self.settings.roots, &step.path)
                && matches!(handle.read(), Ok(ReadFile::Other(FileState::Directory { .. })))
            {
                let _ = handle.make_directory(mode | more);
            }
        }
    }

    fn apply(&self, step: &RestoreStep) -> io::Result<()> {
        let roots = &self.settings.roots;
        let is_directory = |handle: &FileHandle| {
            matches!(handle.read(), Ok(ReadFile::Other(FileState::Directory { .. })))
        };
        match &step.to {
            FileState::Absent => {
                let handle = FileHandle::open(roots, &step.path)?;
                if is_directory(&handle) { handle.remove_directory() } else { handle.remove() }
            }
            FileState::Directory { mode } => {
                let handle = FileHandle::create(roots, &step.path)?;
                if !is_directory(&handle)
                    && !matches!(handle.read()?, ReadFile::Other(FileState::Absent))
                {
                    handle.remove()?;
                }
                handle.make_directory(*mode | 0o700)
            }
            FileState::File { content, mode, .. } => {
                let bytes = self.stored(content)?;
                let handle = FileHandle::create(roots, &step.path)?;
                if is_directory(&handle) {
                    handle.remove_directory()?;
                }
                handle.write(&bytes, *mode)
            }
            FileState::Link { target } => {
                let handle = FileHandle::create(roots, &step.path)?;
                if is_directory(&handle) {
                    handle.remove_directory()?;
                }
                handle.link(&target.0)
            }
            FileState::Unknown { reason, .. } => Err(io::Error::other(reason.as_str())),
        }
    }

    fn stored(&self, hash: &str) -> io::Result<Vec<u8>> {
        self.database.read(|view| view.content(hash))
    }

    /// Returns the content of a file in a recorded state; `None` if it is not a regular file.
    ///
    /// # Errors
    /// The stored copy cannot be read.
    pub fn content(&self, state: &FileState) -> io::Result<Option<Vec<u8>>> {
        match state {
            FileState::File { content, .. } => self.stored(content).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the files that the user restored since the model was last informed, by direction.
    ///
    /// # Errors
    /// The records cannot be read.
    pub fn news(&self, conversation: &str) -> io::Result<Vec<(Direction, BTreeSet<PathBuf>)>> {
        let turns = self.turns(conversation)?;
        let news = [Direction::Undo, Direction::Redo].map(|direction| {
            let is_undone = direction == Direction::Undo;
            let turns = turns.iter().filter(|turn| turn.is_news() && turn.is_undone == is_undone);
            let changes = turns.flat_map(|turn| &turn.changes);
            (direction, changes.map(|change| change.path.0.clone()).collect())
        });
        Ok(news
            .into_iter()
            .filter(|(_, paths): &(_, BTreeSet<PathBuf>)| !paths.is_empty())
            .collect())
    }

    /// Records that the model was informed of the news.
    ///
    /// # Errors
    /// The records cannot be written.
    pub fn mark_news_as_read(&self, conversation: &str) -> io::Result<()> {
        if self.news(conversation)?.is_empty() {
            return Ok(());
        }
        self.database.write(|view| {
            for turn in view.turns(conversation)?.into_iter().filter(TurnRecord::is_news) {
                let was_undone_for_model = turn.is_undone;
                view.write_turn(conversation, &TurnRecord { was_undone_for_model, ..turn })?;
            }
            Ok(())
        })
    }
}

/// Returns the state of a file without storing its content.
fn without_content(content: ReadFile) -> FileState {
    match content {
        ReadFile::Other(state) => state,
        ReadFile::File { bytes, mode, .. } => {
            FileState::File { content: hash(&bytes), size: bytes.len() as u64, mode }
        }
    }
}

/// Returns the sort key of a step: deletions from the bottom up, then directories, then files.
fn order(step: &RestoreStep) -> (u8, std::cmp::Reverse<usize>, PathBuf) {
    let depth = step.path.components().count();
    let (group, depth) = match step.to {
        FileState::Absent => (0, depth),
        FileState::Directory { .. } => (1, usize::MAX - depth),
        _ => (2, 0),
    };
    (group, std::cmp::Reverse(depth), step.path.clone())
}
