//! Records the states of files before a turn changes them.
//!
//! Before a file tool writes, the state of that file is recorded; before anything else that may change files, such as a command,
//! the state of the whole project. Both are stored before the change, so that a turn can be undone after a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::{fs, io, thread};

use tenter_base::{Clock, FileStamp, lock, rfc3339};
use tenter_proc::Cancel;

use super::beneath;
use super::database::{Database, SnapshotError, SnapshotView};
use super::state::{FileState, ProjectSurvey, StoredPath, UnknownReason};
use super::survey::{FileOrigin, Surveyor, origin, store_content};
use super::turn::{OpenTurn, TurnFileChange, TurnHeading, TurnRecord};

/// Maximum number of characters of a recorded message.
const MAX_MESSAGE: usize = 200;

/// The settings of a [`Recorder`].
#[derive(Debug, Clone)]
pub struct RecorderSettings {
    /// The directory of all snapshots.
    pub directory: PathBuf,
    /// The project root and the directories added to it, as real paths.
    pub roots: Vec<PathBuf>,
    /// Returns the time.
    pub clock: Clock,
}

/// Records the turns of a chat.
#[derive(Debug)]
pub struct Recorder {
    pub(super) settings: RecorderSettings,
    pub(super) database: Arc<Database>,
    state: Mutex<RecorderState>,
}

#[derive(Debug, Default)]
pub(super) struct RecorderState {
    turn: Option<TurnInProgress>,
    /// The last survey, so that files that did not change are not read again.
    survey: Option<Arc<ProjectSurvey>>,
    /// The conversation with the stored base, and that base.
    stored_base: Option<(String, Arc<ProjectSurvey>)>,
    /// Old snapshots were deleted.
    pub(super) is_pruned: bool,
    /// The first error of the turn.
    error: Option<io::Error>,
}

#[derive(Debug)]
struct TurnInProgress {
    conversation: String,
    heading: TurnHeading,
    touched: BTreeMap<StoredPath, FileState>,
    base: Option<Arc<ProjectSurvey>>,
}

impl Recorder {
    /// Creates a recorder for the first of the roots, which is the project.
    pub fn new(settings: RecorderSettings) -> Self {
        let project = settings.roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let database = Database::new(&settings.directory, project, settings.clock);
        Self { database: Arc::new(database), settings, state: Mutex::default() }
    }

    /// Begins a turn. Nothing is read or written before the turn changes something.
    pub fn begin(&self, conversation: &str, message: &str) {
        let message = message.chars().take(MAX_MESSAGE).collect();
        let heading =
            TurnHeading { number: 0, at: rfc3339((self.settings.clock)()), message, since_ns: 0 };
        let (touched, base) = (BTreeMap::new(), None);
        let conversation = conversation.to_owned();
        self.state().turn = Some(TurnInProgress { conversation, heading, touched, base });
    }

    /// Records the state of a file before a file tool changes it.
    pub fn before_file(&self, path: &Path) {
        let mut state = self.state();
        let result = self.record_file(&mut state, path);
        state.note_error(result);
    }

    /// Records the state of the project before something changes it in an unknown way.
    pub fn before_anything(&self, cancel: &Cancel) {
        let mut state = self.state();
        let result = self.record_base(&mut state, cancel);
        state.note_error(result);
    }

    /// Ends the turn: records what it changed.
    ///
    /// # Errors
    /// The turn, or a part of it, could not be recorded.
    pub fn end(&self) -> io::Result<()> {
        let mut state = self.state();
        let Some(turn) = state.turn.take() else { return Ok(()) };
        let result = state.error.take().map_or(Ok(()), Err);
        if turn.touched.is_empty() && turn.base.is_none() {
            return result;
        }
        let conversation = turn.conversation.clone();
        self.close(&mut state, turn, false)?;
        if !std::mem::replace(&mut state.is_pruned, true) {
            let database = Arc::clone(&self.database);
            // What cannot be deleted now is deleted another time.
            let prune = move || drop(database.prune(&conversation));
            let _ = thread::Builder::new().spawn(prune);
        }
        result
    }

    /// Returns the conversation's turns that changed files, in order. Ends a turn that a dead process did not end.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn turns(&self, conversation: &str) -> io::Result<Vec<TurnRecord>> {
        let mut state = self.state();
        let is_own = state.turn.as_ref().is_some_and(|turn| turn.conversation == conversation);
        let open = self.database.read(|view| view.open_turn(conversation))?;
        if let Some(open) = open.filter(|_| !is_own) {
            let base = if open.has_base {
                self.database.read(|view| view.base(conversation))?
            } else {
                None
            };
            let turn = TurnInProgress {
                conversation: conversation.to_owned(),
                heading: open.heading,
                touched: open.touched.into_iter().collect(),
                base: base.map(Arc::new),
            };
            self.close(&mut state, turn, true)?;
        }
        self.database.read(|view| view.turns(conversation))
    }

    /// Stores the record of a turn that ends now, unless it changed nothing.
    fn close(
        &self,
        state: &mut RecorderState,
        turn: TurnInProgress,
        was_interrupted: bool,
    ) -> io::Result<()> {
        let survey = self.database.write(|view| {
            let conversation = turn.conversation.clone();
            let (record, survey) = self.finished_turn(view, turn)?;
            if !record.changes.is_empty() {
                view.add_turn(&conversation, &TurnRecord { was_interrupted, ..record })?;
            }
            view.delete_open_turn(&conversation)?;
            Ok(survey)
        })?;
        if let Some(survey) = survey {
            state.survey = Some(Arc::new(survey));
        }
        Ok(())
    }

    fn record_file(&self, state: &mut RecorderState, path: &Path) -> io::Result<()> {
        let Some(turn) = &mut state.turn else { return Ok(()) };
        let surveyed = turn.base.as_ref().and_then(|base| base.files.get(&StoredPath::from(path)));
        if surveyed.is_some_and(|file| file.state.is_known()) {
            return Ok(());
        }
        // The tool creates missing directories.
        let missing = path.ancestors().skip(1).take_while(|directory| !directory.exists());
        let is_untouched = |path: &&Path| !turn.touched.contains_key(&StoredPath::from(*path));
        let paths: Vec<&Path> = [path].into_iter().chain(missing).filter(is_untouched).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let touched = turn.touched.clone();
        let result = self.database.write(|view| {
            for path in paths {
                let (before, _) = store_content(beneath::read(path)?, view)?;
                turn.touched.insert(StoredPath::from(path), before);
            }
            self.write_open_turn(view, turn)
        });
        if result.is_err() {
            turn.touched = touched;
        }
        result
    }

    fn record_base(&self, state: &mut RecorderState, cancel: &Cancel) -> io::Result<()> {
        let RecorderState { turn: Some(turn), survey, stored_base, .. } = state else {
            return Ok(());
        };
        if turn.base.is_some() {
            return Ok(());
        }
        let result = self.database.write(|view| {
            let earlier = match survey {
                Some(earlier) => Arc::clone(earlier),
                None => Arc::new(view.last_base()?),
            };
            let Some(base) = self.surveyor(view, cancel).survey(&earlier)? else { return Ok(()) };
            let base = (turn.conversation.clone(), Arc::new(base));
            if stored_base.as_ref() != Some(&base) {
                view.write_base(&base.0, &base.1)?;
            }
            turn.base = Some(Arc::clone(&base.1));
            *survey = Some(Arc::clone(&base.1));
            *stored_base = Some(base);
            self.write_open_turn(view, turn)
        });
        if result.is_err() {
            (turn.base, *survey, *stored_base) = (None, None, None);
        }
        result
    }

    fn surveyor<'s>(&'s self, view: &'s SnapshotView<'s>, cancel: &'s Cancel) -> Surveyor<'s> {
        let RecorderSettings { roots, directory, .. } = &self.settings;
        Surveyor { roots, snapshots: directory, view, cancel, now_ns: self.now_ns() }
    }

    fn now_ns(&self) -> i128 {
        (self.settings.clock)().as_nanosecond()
    }

    fn write_open_turn(
        &self,
        view: &SnapshotView<'_>,
        turn: &mut TurnInProgress,
    ) -> Result<(), SnapshotError> {
        if turn.heading.number == 0 {
            turn.heading.number = view.next_number(&turn.conversation)?;
            turn.heading.since_ns = self.now_ns();
        }
        let touched = turn.touched.iter().map(|(path, state)| (path.clone(), state.clone()));
        let open = OpenTurn {
            heading: turn.heading.clone(),
            touched: touched.collect(),
            has_base: turn.base.is_some(),
        };
        view.write_open_turn(&turn.conversation, &open)
    }

    /// Returns the record of a turn that ends now, and the survey for it, if one was needed.
    fn finished_turn(
        &self,
        view: &SnapshotView<'_>,
        turn: TurnInProgress,
    ) -> Result<(TurnRecord, Option<ProjectSurvey>), SnapshotError> {
        let now = match &turn.base {
            Some(base) => self.surveyor(view, &Cancel::new()).survey(base)?,
            None => None,
        };
        let base = turn.base.unwrap_or_default();
        let identities = base.identities();
        let surveyed = now.iter().flat_map(|now| now.files.keys());
        let paths: BTreeSet<&StoredPath> =
            turn.touched.keys().chain(base.files.keys()).chain(surveyed).collect();
        let state_now = |path: &StoredPath| Some(&now.as_ref()?.files.get(path)?.state);
        let is_link = |path: &Path| {
            matches!(state_now(&StoredPath(path.to_owned())), Some(FileState::Link { .. }))
        };
        let mut changes = Vec::new();
        for path in paths {
            let is_behind_link = || path.0.ancestors().skip(1).any(is_link);
            let after = match state_now(path) {
                Some(state) => state.clone(),
                // Its directory was replaced by a symlink, perhaps to where the directory is now.
                None if base.files.contains_key(path) && is_behind_link() => FileState::Absent,
                None => store_content(beneath::read(&path.0)?, view)?.0,
            };
            let surveyed = base.files.get(path).map(|file| &file.state);
            let before = match turn.touched.get(path).or(surveyed) {
                Some(before) => before.clone(),
                None => match origin(&path.0, &identities, turn.heading.since_ns) {
                    FileOrigin::Created => FileState::Absent,
                    FileOrigin::Earlier => continue,
                    FileOrigin::NotSeen => {
                        FileState::Unknown { reason: UnknownReason::NotSeen, stamp: None }
                    }
                },
            };
            let is_unseen_directory =
                !before.is_known() && matches!(after, FileState::Directory { .. });
            if before != after && !is_unseen_directory && !is_unchanged(&path.0, &before) {
                changes.push(TurnFileChange { path: path.clone(), before, after });
            }
        }
        Ok((TurnRecord::new(turn.heading, changes), now))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, RecorderState> {
        lock(&self.state)
    }
}

/// Returns whether a file whose content was not recorded has the same metadata as before.
fn is_unchanged(path: &Path, before: &FileState) -> bool {
    let FileState::Unknown { stamp: Some(stamp), .. } = before else { return false };
    fs::symlink_metadata(path).is_ok_and(|now| FileStamp::new(&now) == *stamp)
}

impl RecorderState {
    /// Remembers the first error of a turn.
    fn note_error(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}
