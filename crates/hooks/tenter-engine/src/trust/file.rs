//! The trust store's file: its format and its lock.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::{FileLock, private_dir, replace_file, untrusted_file};
use tenter_protocol::{Diagnostic, Severity};

use super::record::{ProjectState, Trusted};

/// The version that is written.
pub(super) const VERSION: u32 = 2;

/// Maximum size of a trust store, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// By project root.
pub(super) type Projects = BTreeMap<String, ProjectRecord>;
/// By full name, the contents that were trusted, oldest first.
type Hooks = BTreeMap<String, Vec<Trusted>>;

/// The trusted content of one project.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ProjectRecord {
    pub(super) hooks: Hooks,
    /// The states that were accepted, oldest first.
    #[serde(default)]
    pub(super) states: Vec<ProjectState>,
    /// The hooks without which the user accepted the project.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) without: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
struct Content<P> {
    version: u32,
    projects: P,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The reason why a store cannot be read.
pub(super) enum Unreadable {
    Corrupt(String),
    Newer(u32),
    Io(io::Error),
}

impl Unreadable {
    pub(super) fn diagnostic(&self, path: &Path) -> Diagnostic {
        let (why, help) = match self {
            Self::Corrupt(why) => (
                format!("is damaged ({why})"),
                format!(
                    "run `tenter trust` again; the damaged file is then kept as {}",
                    corrupt_copy(path).display()
                ),
            ),
            Self::Newer(version) => (
                format!("has version {version}, which this program does not know"),
                "use a newer version of this program".to_owned(),
            ),
            Self::Io(error) => {
                (format!("cannot be read: {error}"), "make it readable for you".to_owned())
            }
        };
        let message = format!("the trust store {why}, so no project hook is trusted");
        Diagnostic::new("trust-store-unreadable", Severity::Error, message).at(path).help(help)
    }
}

/// Returns the projects in the store at `path`; none where there is no store.
pub(super) fn read(path: &Path) -> Result<Projects, Unreadable> {
    let bytes = match untrusted_file::read(path, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Projects::new()),
        Err(error) => return Err(Unreadable::Io(error)),
    };
    match serde_json::from_slice(&bytes) {
        Ok(Content { version: VERSION, projects }) => Ok(projects),
        Ok(Content { version, .. }) => Err(Unreadable::Newer(version)),
        Err(error) => match serde_json::from_slice(&bytes) {
            Ok(Version { version }) if version != VERSION => Err(Unreadable::Newer(version)),
            _ => Err(Unreadable::Corrupt(error.to_string())),
        },
    }
}

/// Writes the store at `path`.
pub(super) fn write(path: &Path, projects: &Projects) -> io::Result<()> {
    let bytes = serde_json::to_vec_pretty(&Content { version: VERSION, projects })?;
    replace_file::replace(path, &bytes)
}

/// Waits for the lock of the store. It is on a separate file because the store itself is replaced.
pub(super) fn lock(path: &Path) -> io::Result<FileLock> {
    private_dir::create_parent(path)?;
    FileLock::acquire(&path.with_added_extension("lock"))
}

/// Returns the path of the copy of a damaged store.
pub(super) fn corrupt_copy(path: &Path) -> PathBuf {
    path.with_added_extension("corrupt")
}
