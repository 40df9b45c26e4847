//! Records what files were before a turn changes them.
//!
//! Before a file tool writes, the state of that file is recorded. Before anything else that may change files, such as a command,
//! the state of the whole project is. Both are on disk before the change, so a turn can be undone after a crash.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use tenter_base::{Clock, FileStamp, rfc3339};
use tenter_proc::Cancel;

use super::beneath;
use super::objects::ObjectWriter;
use super::prune::prune;
use super::state::{FileState, StoredPath, UnknownReason};
use super::survey::{FileOrigin, ProjectState, Surveyor, kept, origin};
use super::turn::{self, FileChange, OpenTurn, Shelf, TurnHeading, TurnRecord};

/// Maximum number of characters kept of a message.
const MESSAGE: usize = 200;
/// Maximum number of recorded turns of a conversation.
const MAX_TURNS: usize = 100;

/// What a [`Recorder`] needs to know.
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
    pub(super) shelf: Shelf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The turn in progress.
    turn: Option<Turn>,
    /// The last survey. It saves reading files that did not change.
    known: Option<ProjectState>,
    /// Whether old snapshots were removed.
    is_pruned: bool,
    /// Why the turn could not be recorded.
    problem: Option<io::Error>,
}

/// A turn in progress.
#[derive(Debug)]
struct Turn {
    conversation: String,
    heading: TurnHeading,
    touched: BTreeMap<StoredPath, FileState>,
    base: Option<ProjectState>,
}

impl Recorder {
    /// A recorder for the first of the roots, which is the project.
    pub fn new(settings: RecorderSettings) -> Self {
        let project = settings.roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let shelf = Shelf::of_project(&settings.directory, project);
        Self { shelf, settings, state: Mutex::default() }
    }

    /// Begins a turn. Nothing is read or written before the turn changes something.
    pub fn begin(&self, conversation: &str, message: &str) {
        let message = message.chars().take(MESSAGE).collect();
        let heading =
            TurnHeading { number: 0, at: rfc3339((self.settings.clock)()), message, since_ns: 0 };
        let (touched, base) = (BTreeMap::new(), None);
        let conversation = conversation.to_owned();
        self.state().turn = Some(Turn { conversation, heading, touched, base });
    }

    /// Records what a file is, before a file tool changes it.
    pub fn before_file(&self, path: &Path) {
        let mut state = self.state();
        let recorded = self.record_file(&mut state, path);
        state.keep(recorded);
    }

    /// Records the state of the project, before something changes it in an unknown way.
    pub fn before_anything(&self, cancel: &Cancel) {
        let mut state = self.state();
        let recorded = self.record_base(&mut state, cancel);
        state.keep(recorded);
    }

    /// Ends the turn: records what it changed.
    ///
    /// # Errors
    /// The turn, or a part of it, could not be recorded.
    pub fn end(&self) -> io::Result<()> {
        let mut state = self.state();
        let Some(turn) = state.turn.take() else { return Ok(()) };
        let problem = state.problem.take().map_or(Ok(()), Err);
        if turn.touched.is_empty() && turn.base.is_none() {
            return problem;
        }
        let shelf = self.shelf.of(&turn.conversation);
        let lock = self.shelf.lock()?;
        let (record, now) = self.closed(turn)?;
        state.known = now.or(state.known.take());
        if !record.changes.is_empty() {
            shelf.add_record(&record)?;
        }
        shelf.close()?;
        let numbers = shelf.numbers();
        for number in numbers.iter().rev().skip(MAX_TURNS) {
            shelf.remove_record(*number)?;
        }
        drop(lock);
        if !std::mem::replace(&mut state.is_pruned, true) {
            let (all, present) = (self.settings.directory.clone(), shelf.directory().to_owned());
            // Without a thread it is done another time.
            let _ = thread::Builder::new().spawn(move || prune(&all, &present));
        }
        problem
    }

    /// The conversation's turns that changed files, in order. A turn that a dead process left open ends now.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn turns(&self, conversation: &str) -> io::Result<Vec<TurnRecord>> {
        let mut state = self.state();
        let shelf = self.shelf.of(conversation);
        if let Some(open) = turn::read::<OpenTurn>(&shelf.open_file())? {
            let lock = self.shelf.lock()?;
            let base = if open.has_base { turn::read(&shelf.base_file())? } else { None };
            let touched = open.touched.into_iter().collect();
            let conversation = conversation.to_owned();
            let turn = Turn { conversation, heading: open.heading, touched, base };
            let (record, now) = self.closed(turn)?;
            state.known = now.or(state.known.take());
            if !record.changes.is_empty() {
                shelf.add_record(&TurnRecord { was_interrupted: true, ..record })?;
            }
            shelf.close()?;
            drop(lock);
        }
        shelf.records()
    }

    fn record_file(&self, state: &mut State, path: &Path) -> io::Result<()> {
        let Some(turn) = &mut state.turn else { return Ok(()) };
        let known = turn.base.as_ref().and_then(|base| base.files.get(&StoredPath::from(path)));
        if known.is_some_and(|known| known.state.is_known()) {
            return Ok(());
        }
        let mut is_new = false;
        // The tool creates missing directories.
        let missing = path.ancestors().skip(1).take_while(|directory| !directory.exists());
        for path in [path].into_iter().chain(missing) {
            if let Entry::Vacant(untouched) = turn.touched.entry(StoredPath::from(path)) {
                let _lock = self.shelf.lock()?;
                let objects = self.shelf.objects.writer()?;
                untouched.insert(kept(beneath::read(path)?, &objects)?.0);
                objects.finish()?;
                is_new = true;
            }
        }
        if is_new { self.write_open(turn) } else { Ok(()) }
    }

    fn record_base(&self, state: &mut State, cancel: &Cancel) -> io::Result<()> {
        let State { turn: Some(turn), known, .. } = state else { return Ok(()) };
        if turn.base.is_some() {
            return Ok(());
        }
        let shelf = self.shelf.of(&turn.conversation);
        let _lock = self.shelf.lock()?;
        let earlier = match known.take() {
            Some(known) => known,
            None => self.last_survey(),
        };
        let objects = self.shelf.objects.writer()?;
        let Some(now) = self.surveyor(&objects, cancel).survey(&earlier)? else {
            *known = Some(earlier);
            return Ok(());
        };
        objects.finish()?;
        turn::write(&shelf.base_file(), &now)?;
        *known = Some(now.clone());
        turn.base = Some(now);
        self.write_open(turn)
    }

    /// The last survey of this project by any conversation.
    fn last_survey(&self) -> ProjectState {
        let bases = self.shelf.all().into_iter().map(|one| one.base_file());
        bases.map(|file| turn::read(&file)).find_map(|base| base.ok()?).unwrap_or_default()
    }

    fn surveyor<'s>(&'s self, objects: &'s ObjectWriter, cancel: &'s Cancel) -> Surveyor<'s> {
        Surveyor {
            roots: &self.settings.roots,
            without: &self.settings.directory,
            objects,
            cancel,
            now_ns: self.now_ns(),
        }
    }

    fn now_ns(&self) -> i128 {
        (self.settings.clock)().as_nanosecond()
    }

    fn write_open(&self, turn: &mut Turn) -> io::Result<()> {
        let shelf = self.shelf.of(&turn.conversation);
        if turn.heading.number == 0 {
            turn.heading.number = shelf.numbers().last().map_or(1, |last| last + 1);
            turn.heading.since_ns = self.now_ns();
        }
        let touched = turn.touched.iter().map(|(path, state)| (path.clone(), state.clone()));
        let open = OpenTurn {
            heading: turn.heading.clone(),
            touched: touched.collect(),
            has_base: turn.base.is_some(),
        };
        turn::write(&shelf.open_file(), &open)
    }

    /// The record of a turn that ends now, and the survey for it, if one was needed.
    fn closed(&self, turn: Turn) -> io::Result<(TurnRecord, Option<ProjectState>)> {
        let objects = self.shelf.objects.writer()?;
        let now = match &turn.base {
            Some(base) => self.surveyor(&objects, &Cancel::new()).survey(base)?,
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
                None => kept(beneath::read(&path.0)?, &objects)?.0,
            };
            let known = base.files.get(path).map(|file| &file.state);
            let before = match turn.touched.get(path).or(known) {
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
            if before != after && !is_unseen_directory && !has_stamp_of(&path.0, &before) {
                changes.push(FileChange { path: path.clone(), before, after });
            }
        }
        objects.finish()?;
        Ok((TurnRecord::new(turn.heading, changes), now))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a file that was not read before did not change.
fn has_stamp_of(path: &Path, before: &FileState) -> bool {
    let FileState::Unknown { stamp: Some(stamp), .. } = before else { return false };
    fs::symlink_metadata(path).is_ok_and(|now| FileStamp::new(&now) == *stamp)
}

impl State {
    /// Keeps the first error of a turn.
    fn keep(&mut self, recorded: io::Result<()>) {
        if let Err(error) = recorded {
            self.problem.get_or_insert(error);
        }
    }
}
