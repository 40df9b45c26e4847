//! What the tools of one conversation share, and what conversations share beside each other.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenter_base::Clock;
use tenter_base::rfc3339;
use tenter_proc::Background;
use tenter_protocol::tool_metadata::TodoItem;

use super::ToolError;
use super::protect::{ProtectedPaths, WriteConsent};
use super::roots::{FolderError, Roots};
use super::seen::SeenFiles;
use super::slots::{Slot, Slots};

/// What a [`Workspace`] is made of.
#[derive(Debug, Clone)]
pub struct WorkspaceSettings {
    /// The project root.
    pub project: PathBuf,
    /// The working directory: where commands run and what paths are relative to (R69). Outside the project it counts as the
    /// project root.
    pub cwd: PathBuf,
    /// Further folders that tools may read and write; relative to the project unless absolute.
    pub add_dirs: Vec<PathBuf>,
    /// Further folders that tools may read: those of skills. One that is not there does not matter.
    pub read_dirs: Vec<PathBuf>,
    /// What file tools change only with the user's consent.
    pub protected: ProtectedPaths,
    /// The whole environment of commands.
    pub env: Vec<(OsString, OsString)>,
    /// Where the logs of background commands go, in a folder `background`.
    pub state_dir: PathBuf,
    /// Tells the time of results.
    pub clock: Clock,
}

/// What the tools of one conversation share: where they may go, which files they have seen, the to-do list, and the commands
/// that were left running. Several calls may use it at the same time.
pub struct Workspace {
    roots: Roots,
    protected: ProtectedPaths,
    env: Vec<(OsString, OsString)>,
    state_dir: PathBuf,
    clock: Clock,
    changing: Arc<Mutex<()>>,
    slots: Arc<Slots>,
    seen: Mutex<SeenFiles>,
    todos: Mutex<Vec<TodoItem>>,
    background: Arc<Mutex<Vec<Background>>>,
}

impl Workspace {
    /// A workspace in which nothing has happened yet.
    ///
    /// # Errors
    /// When the project's folder or an added one does not exist.
    pub fn new(settings: WorkspaceSettings) -> Result<Self, FolderError> {
        Ok(Self {
            roots: Roots::new(&settings.project, &settings.add_dirs)?
                .working_in(&settings.cwd)
                .reading(&settings.read_dirs),
            protected: settings.protected,
            env: settings.env,
            state_dir: settings.state_dir,
            clock: settings.clock,
            changing: Arc::default(),
            slots: Arc::default(),
            seen: Mutex::default(),
            todos: Mutex::default(),
            background: Arc::default(),
        })
    }

    /// The same workspace for another conversation, which has seen nothing yet and whose to-do list is its own. Files are
    /// still changed one at a time.
    #[must_use]
    pub fn aside(&self) -> Self {
        Self {
            roots: self.roots.clone(),
            protected: self.protected.clone(),
            env: self.env.clone(),
            state_dir: self.state_dir.clone(),
            clock: self.clock,
            changing: Arc::clone(&self.changing),
            slots: Arc::clone(&self.slots),
            seen: Mutex::default(),
            todos: Mutex::default(),
            background: Arc::clone(&self.background),
        }
    }

    /// The project's folder, as a real path.
    pub fn project(&self) -> &Path {
        self.roots.project()
    }

    /// The working directory, as a real path.
    pub fn cwd(&self) -> &Path {
        self.roots.cwd()
    }

    /// The environment of commands.
    pub fn env(&self) -> &[(OsString, OsString)] {
        &self.env
    }

    /// The time as results write it.
    pub fn timestamp(&self) -> String {
        rfc3339((self.clock)())
    }

    /// The real path of what the model calls `path` and would change. It need not exist.
    ///
    /// # Errors
    /// When it is outside the project and the added folders, or is protected and `consent` is refused.
    pub fn resolve_to_write(
        &self,
        path: &str,
        consent: &dyn WriteConsent,
    ) -> Result<PathBuf, ToolError> {
        let real = self.roots.resolve(path)?;
        match self.protected.around(&real) {
            Some(place) if !consent.agrees(&place, &real) => Err(self.protects(&place, path)),
            _ => Ok(real),
        }
    }

    fn protects(&self, place: &Path, path: &str) -> ToolError {
        let place = self.shown(place);
        ToolError::new(format!(
            "{path} is protected: file tools change {place} only with the user's consent, and there is none; \
             `tenter run` takes it as --allow-write {place}"
        ))
    }

    /// The real path of what the model calls `path` and would read. It need not exist.
    ///
    /// # Errors
    /// When it is outside the project, the added folders and those that may be read.
    pub fn resolve_to_read(&self, path: &str) -> Result<PathBuf, ToolError> {
        self.roots.resolve_to_read(path)
    }

    /// The directory above which a search of the real path `root` reads no ignore file.
    pub(crate) fn top_of<'p>(&'p self, root: &'p Path) -> &'p Path {
        self.roots.top_of(root)
    }

    /// A path as results show it: relative to the working directory where it is inside.
    pub fn shown(&self, path: &Path) -> String {
        self.roots.shown(path)
    }

    /// Ends every command that was left running.
    pub fn end_background(&self) {
        Background::end_all(std::mem::take(&mut *lock(&self.background)));
    }

    /// Forgets which files were seen, when the model no longer has in its history what it read of them.
    pub fn forget_reads(&self) {
        self.seen().forget();
    }

    /// Where the logs of background commands go.
    pub(crate) fn log_folder(&self) -> PathBuf {
        self.state_dir.join("background")
    }

    /// Takes charge of a command that was left running.
    pub(crate) fn keep_running(&self, command: Background) {
        lock(&self.background).push(command);
    }

    /// Whoever changes a file holds this meanwhile, so that two calls, of whatever conversation, never change one at once.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        lock(&self.changing)
    }

    /// Waits until another tool call may run; it may until the slot is dropped.
    pub(crate) fn slot(&self) -> Slot<'_> {
        self.slots.take()
    }

    /// The files seen so far.
    pub(crate) fn seen(&self) -> MutexGuard<'_, SeenFiles> {
        lock(&self.seen)
    }

    /// The to-do list.
    pub(crate) fn todos(&self) -> MutexGuard<'_, Vec<TodoItem>> {
        lock(&self.todos)
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the environment: it may hold secrets.
        f.debug_struct("Workspace")
            .field("roots", &self.roots)
            .field("state_dir", &self.state_dir)
            .finish_non_exhaustive()
    }
}

/// No lock here guards anything that a panic could leave half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
