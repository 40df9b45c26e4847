//! The state that the tools of one conversation share, and the state that all conversations of an agent share.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use tenter_base::{Clock, lock, rfc3339};
use tenter_proc::Background;
use tenter_protocol::facts::Path as PathFact;
use tenter_protocol::tool_metadata::TodoItem;

use super::ToolError;
use super::file_states::SeenFiles;
use super::input::NonEmpty;
use super::protect::{ProtectedPaths, WriteConsent};
use super::roots::{DirectoryError, Roots};
use super::slots::{Slot, Slots};

/// The settings of a [`Workspace`].
#[derive(Debug, Clone)]
pub struct WorkspaceSettings {
    /// The project root.
    pub project: PathBuf,
    /// The working directory: where commands run and what paths are relative to (R69). If it is outside the project, the
    /// project root is used.
    pub cwd: PathBuf,
    /// Further directories that tools may read and write; relative to the project unless absolute.
    pub add_dirs: Vec<PathBuf>,
    /// Further directories that tools may read, such as the directories of skills. Missing ones are ignored.
    pub read_dirs: Vec<PathBuf>,
    /// The files that file tools change only with the user's consent.
    pub protected_paths: ProtectedPaths,
    /// The whole environment of commands.
    pub env: Vec<(OsString, OsString)>,
    /// The state directory: `background` in it contains the logs of background commands.
    pub state_dir: PathBuf,
    /// The program that starts confined commands; without it they do not run.
    pub launcher: Option<PathBuf>,
    /// Returns the time for results.
    pub clock: Clock,
}

/// The state that the tools of one conversation share: the accessible directories, the files read so far, the to-do list, and
/// background commands. Several calls may use it concurrently.
pub struct Workspace {
    shared: Arc<SharedState>,
    file_states: Mutex<SeenFiles>,
    todos: Mutex<Vec<TodoItem>>,
}

/// The state that all conversations share.
struct SharedState {
    roots: Roots,
    settings: WorkspaceSettings,
    changing: Mutex<()>,
    slots: Slots,
    background: Mutex<Vec<Background>>,
}

impl Workspace {
    /// Creates a new workspace.
    ///
    /// # Errors
    /// When the project directory or an added one does not exist.
    pub fn new(settings: WorkspaceSettings) -> Result<Self, DirectoryError> {
        let roots = Roots::new(&settings.project, &settings.add_dirs)?
            .working_in(&settings.cwd)
            .reading(&settings.read_dirs);
        let (changing, slots, background) = Default::default();
        let shared = Arc::new(SharedState { roots, settings, changing, slots, background });
        Ok(Self { shared, file_states: Mutex::default(), todos: Mutex::default() })
    }

    /// Returns the same workspace for another conversation, with no files read yet and its own to-do list. Changes of files are
    /// still serialised across all of them.
    #[must_use]
    pub fn for_another_conversation(&self) -> Self {
        let shared = Arc::clone(&self.shared);
        Self { shared, file_states: Mutex::default(), todos: Mutex::default() }
    }

    /// Returns the project root, as a real path.
    pub fn project(&self) -> &Path {
        self.shared.roots.project()
    }

    /// Returns the working directory, as a real path.
    pub fn cwd(&self) -> &Path {
        self.shared.roots.cwd()
    }

    /// Returns the directories in which file tools may write, as real paths; the project is the first.
    pub fn writable_roots(&self) -> Vec<PathBuf> {
        self.shared.roots.writable().map(Path::to_owned).collect()
    }

    /// Returns the real path of a path from the model, if file tools may write there.
    pub(crate) fn writable(&self, path: &str) -> Option<PathBuf> {
        self.shared.roots.resolve(path).ok()
    }

    /// Returns the program that starts confined commands.
    pub(crate) fn launcher(&self) -> Option<&Path> {
        self.shared.settings.launcher.as_deref()
    }

    /// Returns the directory of the notes of confined commands.
    pub(crate) fn note_directory(&self) -> PathBuf {
        self.shared.settings.state_dir.join("confined")
    }

    /// Returns the environment variables of commands.
    pub fn env(&self) -> &[(OsString, OsString)] {
        &self.shared.settings.env
    }

    /// Returns the current time, formatted for results.
    pub fn timestamp(&self) -> String {
        rfc3339((self.shared.settings.clock)())
    }

    /// Returns the real path of a path from the model that is to be changed. It need not exist.
    ///
    /// # Errors
    /// When it is outside the project and the added directories, or is protected and `consent` is refused.
    pub fn resolve_to_write(
        &self,
        path: &str,
        consent: &dyn WriteConsent,
    ) -> Result<PathBuf, ToolError> {
        let real = self.shared.roots.resolve(path)?;
        match self.shared.settings.protected_paths.around(&real) {
            Some(place) if !consent.agrees(&place, &real) => Err(self.protects(&place, path)),
            _ => Ok(real),
        }
    }

    /// Returns the error if a server's tool seems to change a protected file and the user does not agree.
    pub(crate) fn refused_change(
        &self,
        paths: &[PathFact],
        consent: &dyn WriteConsent,
    ) -> Option<ToolError> {
        paths.iter().filter(|fact| fact.command.is_none() && fact.op.changes()).find_map(|fact| {
            let file = Path::new(&fact.path);
            let place = self.shared.settings.protected_paths.affected(file, fact.recursive)?;
            (!consent.agrees(&place, file)).then(|| self.protects(&place, &fact.given))
        })
    }

    fn protects(&self, place: &Path, path: &str) -> ToolError {
        let place = self.display_path(place);
        ToolError::new(format!(
            "{path} is protected: file tools change {place} only with the user's consent, and it was not given; \
             pass --allow-write {place} to `tenter run` to allow it"
        ))
    }

    /// Returns the real path of a path from the model that is to be read. It need not exist.
    ///
    /// # Errors
    /// When it is outside the project, the added directories and the readable ones.
    pub fn resolve_to_read(&self, path: &str) -> Result<PathBuf, ToolError> {
        self.shared.roots.resolve_to_read(path)
    }

    /// Returns whether a real path is in the project or an added directory.
    pub(crate) fn contains(&self, real: &Path) -> bool {
        self.shared.roots.is_inside(real)
    }

    /// Returns whether file tools may change a real path without the user's consent.
    pub(crate) fn may_change(&self, real: &Path) -> bool {
        self.contains(real) && self.shared.settings.protected_paths.around(real).is_none()
    }

    /// Returns the directory to search and its path for results. Default: the working directory.
    ///
    /// # Errors
    /// As [`resolve_to_read`](Self::resolve_to_read).
    pub(crate) fn search_root(
        &self,
        path: Option<&NonEmpty>,
    ) -> Result<(PathBuf, String), ToolError> {
        let root = self.resolve_to_read(path.map_or("", |path| &path.0))?;
        let display_path = self.display_path(&root);
        Ok((root, display_path))
    }

    /// Returns the topmost directory whose ignore files apply to a search of the real path `root`.
    pub(crate) fn top_of<'p>(&'p self, root: &'p Path) -> &'p Path {
        self.shared.roots.top_of(root)
    }

    /// Returns a path for results: relative to the working directory where it is inside.
    pub fn display_path(&self, path: &Path) -> String {
        self.shared.roots.display_path(path)
    }

    /// Terminates all background commands.
    pub fn end_background(&self) {
        Background::end_all(std::mem::take(&mut *lock(&self.shared.background)));
    }

    /// Requires every file to be read again before it is changed: the model no longer has its content in its history.
    pub fn forget_reads(&self) {
        self.seen().forget();
    }

    /// Returns the directory for logs of background commands.
    pub(crate) fn log_directory(&self) -> PathBuf {
        self.shared.settings.state_dir.join("background")
    }

    /// Registers a background command, so that it is terminated with the workspace.
    pub(crate) fn keep_running(&self, command: Background) {
        lock(&self.shared.background).push(command);
    }

    /// Takes the lock that is held while a file is changed, so that no two calls of any conversation change one at once.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        lock(&self.shared.changing)
    }

    /// Waits for a free slot for a tool call; dropping the slot frees it.
    pub(crate) fn slot(&self) -> Slot<'_> {
        self.shared.slots.take()
    }

    /// Returns the files read so far.
    pub(crate) fn seen(&self) -> MutexGuard<'_, SeenFiles> {
        lock(&self.file_states)
    }

    pub(crate) fn todos(&self) -> MutexGuard<'_, Vec<TodoItem>> {
        lock(&self.todos)
    }
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the environment: it may hold secrets.
        f.debug_struct("Workspace")
            .field("roots", &self.shared.roots)
            .field("state_dir", &self.shared.settings.state_dir)
            .finish_non_exhaustive()
    }
}
