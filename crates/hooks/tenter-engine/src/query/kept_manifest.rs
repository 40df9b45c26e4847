//! The cached form of a manifest hook: its trigger and its script by name, since only names are stable across processes,
//! and only settings that differ from the default, since every start reads it. Rules are kept on their own: most of them are not read.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tenter_protocol::Object;
use tenter_protocol::executable::Subscription;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::{Extensions, Manifest, MatcherText, Unset};

use crate::source::{EntryPoint, SCRIPTS, Script};

/// A cached manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeptManifest {
    name: String,
    description: String,
    trigger: String,
    #[serde(default, skip_serializing_if = "is_usual")]
    further: Vec<String>,
    matcher: MatcherText,
    timeout_ms: u64,
    asynchronous: bool,
    priority: u16,
    unset: Unset,
    #[serde(default, skip_serializing_if = "is_usual")]
    extensions: Extensions,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

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

impl From<&Manifest> for KeptManifest {
    fn from(manifest: &Manifest) -> Self {
        let Manifest { name, description, event: _, trigger, further, matcher, extensions, .. } =
            manifest.clone();
        Self {
            name,
            description,
            trigger: trigger.to_owned(),
            further: further.iter().map(|one| one.spelling.to_owned()).collect(),
            matcher,
            timeout_ms: manifest.timeout_ms,
            asynchronous: manifest.asynchronous,
            priority: manifest.priority,
            unset: manifest.unset,
            extensions: Extensions { rules: Vec::new(), ..extensions },
        }
    }
}

impl KeptManifest {
    /// Reads a manifest without its rules and its metadata; `None` if it cannot be read, or if one of its triggers is unknown.
    pub(super) fn read(text: &str) -> Option<Manifest> {
        serde_json::from_str::<Self>(text).ok()?.manifest()
    }

    fn manifest(self) -> Option<Manifest> {
        let Subscription { event, spelling: trigger } = named(&self.trigger)?;
        let further = self.further.iter().map(|word| named(word)).collect::<Option<_>>()?;
        let Self { name, description, matcher, extensions, .. } = self;
        Some(Manifest {
            name,
            description,
            event,
            trigger,
            further,
            matcher,
            timeout_ms: self.timeout_ms,
            asynchronous: self.asynchronous,
            priority: self.priority,
            unset: self.unset,
            extensions,
            metadata: Object::new(),
        })
    }
}

/// Returns the event that a manifest calls `word`.
fn named(word: &str) -> Option<Subscription> {
    TABLE.iter().find_map(|row| {
        let spelling = row.manifest.iter().find(|spelling| **spelling == word)?;
        Some(Subscription { event: row.event, spelling })
    })
}
