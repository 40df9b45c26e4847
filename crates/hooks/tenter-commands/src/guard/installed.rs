//! Guards in the directories of hooks.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tenter_base::{replace_file, untrusted_file};
use tenter_protocol::manifest::format::MAX_FILE_SIZE;
use tenter_terminal::Failure;

use crate::new_files::hooks_dir;
use crate::project::Project;
use crate::shipped_guards::{Guard, InstalledText};

/// The file of a manifest hook.
pub(super) const MANIFEST: &str = "HOOK.md";

/// The state of a guard in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GuardState {
    /// It is not installed.
    Absent,
    /// It is installed as it is part of this program.
    Current,
    /// It is installed from another version of this program.
    Outdated,
    /// It was changed after it was installed.
    Changed,
    /// It was changed after it was installed from another version.
    ChangedAndOutdated,
    /// There is a hook of this name that is no guard.
    Other,
}

impl GuardState {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "-",
            Self::Current => "installed",
            Self::Outdated => "outdated",
            Self::Changed => "changed",
            Self::ChangedAndOutdated => "changed, outdated",
            Self::Other => "another hook",
        }
    }

    /// Checks whether the user wrote a part of the installed file.
    pub(super) fn is_changed(self) -> bool {
        matches!(self, Self::Changed | Self::ChangedAndOutdated | Self::Other)
    }
}

/// A guard in a directory of hooks.
#[derive(Debug)]
pub(super) struct InstalledGuard {
    pub(super) guard: Guard,
    /// The directory of the hook.
    pub(super) path: PathBuf,
    /// The text of its `HOOK.md`; empty if it is not installed.
    pub(super) text: String,
    pub(super) state: GuardState,
}

impl InstalledGuard {
    pub(super) fn new(guard: Guard, hooks: &Path) -> Self {
        let path = hooks.join(guard.name);
        let text = untrusted_file::read_prefix(&path.join(MANIFEST), MAX_FILE_SIZE as u64);
        let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let state = match &text {
            Ok(text) => state(guard, text),
            Err(_) if path.symlink_metadata().is_ok() => GuardState::Other,
            Err(_) => GuardState::Absent,
        };
        Self { guard, path, text: text.unwrap_or_default(), state }
    }

    /// Returns its `HOOK.md`.
    pub(super) fn file(&self) -> PathBuf {
        self.path.join(MANIFEST)
    }

    /// Replaces its `HOOK.md` with `text`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        let file = self.file();
        replace_file::replace_with_mode(&file, text.as_bytes(), Some(0o644))
            .map(drop)
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))
    }
}

fn state(guard: Guard, text: &str) -> GuardState {
    let InstalledText { installed_digest: installed, present_digest: present } =
        InstalledText::new(text);
    let Some(digest) = installed else { return GuardState::Other };
    match (digest == present, digest == guard.digest()) {
        (true, true) => GuardState::Current,
        (true, false) => GuardState::Outdated,
        (false, true) => GuardState::Changed,
        (false, false) => GuardState::ChangedAndOutdated,
    }
}

/// Whose hooks guards are added to.
#[derive(Debug, clap::Args)]
pub(super) struct GuardLocation {
    /// Use the project's hooks instead of yours.
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Use the managed hooks of this machine, as root.
    #[arg(long, conflicts_with = "project")]
    managed: bool,
}

impl GuardLocation {
    /// Returns the project that is named; `None` for the present one.
    pub(super) fn named(&self) -> Option<&Path> {
        self.project.as_deref().filter(|directory| *directory != Path::new("."))
    }

    pub(super) fn is_project(&self) -> bool {
        self.project.is_some()
    }

    /// Returns the directory with the hooks.
    pub(super) fn directory(&self, project: &Project) -> Result<PathBuf, Failure> {
        if self.managed {
            return Ok(project.layout.managed.hooks());
        }
        hooks_dir(project, !self.is_project())
    }
}
