//! The cached form of a hook's script: its name, since only names are stable across processes.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::source::{EntryPoint, SCRIPTS, Script};

/// The script of a manifest hook, cached as an index into [`SCRIPTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum KeptScript {
    /// The script is started directly.
    Program(usize),
    /// An interpreter is started.
    Interpreted(usize),
    NotExecutable(usize),
    Missing,
}

impl KeptScript {
    /// Creates the index of the script; `None` if it has none, which is then not cached, so that no hook loses its script.
    pub(super) fn new(script: &Script) -> Option<Self> {
        let place = |path: &Path| SCRIPTS.iter().position(|(name, _)| path.ends_with(name));
        match script {
            Script::Entry(EntryPoint { path, interpreter: None }) => place(path).map(Self::Program),
            Script::Entry(EntryPoint { path, .. }) => place(path).map(Self::Interpreted),
            Script::NotExecutable(path) => place(path).map(Self::NotExecutable),
            Script::Missing => Some(Self::Missing),
        }
    }

    /// Returns the script of the hook in `directory`; `None` if the index is unknown.
    pub(super) fn read(self, directory: &Path) -> Option<Script> {
        let path = |place: usize| Some(directory.join(SCRIPTS.get(place)?.0));
        let entry = |path, interpreter| Script::Entry(EntryPoint { path, interpreter });
        Some(match self {
            Self::Program(place) => entry(path(place)?, None),
            Self::Interpreted(place) => entry(path(place)?, SCRIPTS.get(place)?.1),
            Self::NotExecutable(place) => Script::NotExecutable(path(place)?),
            Self::Missing => Script::Missing,
        })
    }
}
