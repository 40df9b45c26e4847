//! What was trusted, per project root and hook name, in a file outside every project (R45).
//!
//! A store that cannot be read trusts nothing and says so. It is never overwritten silently: a broken file is kept beside
//! the new one.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tenter_protocol::executable::Subscription;
use tenter_protocol::{Diagnostic, Severity};
use thiserror::Error;

use crate::hook::{Fingerprint, Hook};
use crate::replace_file;

const VERSION: u32 = 1;

/// What was trusted of one hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// Its content.
    pub hash: Fingerprint,
    /// Where it was, for people to read.
    pub path: String,
    /// The events that it was known to have, in its own words; none where it had never been asked.
    pub events: Vec<String>,
    /// When it was trusted, RFC 3339 in UTC.
    pub trusted_at: String,
}

/// A hook to be trusted as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustEntry {
    /// Its full name.
    pub name: String,
    /// Its content.
    pub fingerprint: Fingerprint,
    /// Where it is.
    pub path: PathBuf,
    /// Its events in its own words, if they are known.
    pub events: Vec<String>,
}

impl From<&Hook> for TrustEntry {
    fn from(hook: &Hook) -> Self {
        Self {
            name: hook.name.clone(),
            fingerprint: hook.fingerprint.clone(),
            path: hook.path.clone(),
            events: spellings(&hook.subscriptions),
        }
    }
}

/// The words for events, each once: one word of an executable may stand for several events.
pub(crate) fn spellings(subscriptions: &[Subscription]) -> Vec<String> {
    let mut spellings: Vec<String> =
        subscriptions.iter().map(|subscription| subscription.spelling.to_owned()).collect();
    spellings.dedup();
    spellings
}

/// Why trust could not be recorded or revoked.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The file or its lock cannot be used.
    #[error("the trust store {} cannot be used: {source}", path.display())]
    Io {
        /// The store.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is of a later version.
    #[error("the trust store {} has version {version}, and this program knows {VERSION}: use a newer one", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// JSON knows UTF-8 only, and two projects must not share a name.
    #[error("the path of the project {} is not UTF-8, so trust in its hooks cannot be recorded", .0.display())]
    Unnameable(PathBuf),
}

/// By project root, by full name. Hooks of one name in several folders each have their own record.
type Projects = BTreeMap<String, BTreeMap<String, Vec<Trusted>>>;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    version: u32,
    projects: Projects,
}

/// The trust store.
#[derive(Debug, Clone)]
pub struct TrustStore {
    path: PathBuf,
    projects: Projects,
}

/// What the store says of one project.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectTrust<'a>(Option<&'a BTreeMap<String, Vec<Trusted>>>);

impl<'a> ProjectTrust<'a> {
    /// Whether exactly this content was trusted under this name.
    pub fn is_trusted(self, name: &str, fingerprint: &Fingerprint) -> bool {
        self.records(name).iter().any(|record| record.hash == *fingerprint)
    }

    /// What was last trusted under this name, at this path if there are several.
    pub fn previous(self, name: &str, path: &Path) -> Option<&'a Trusted> {
        let records = self.records(name);
        let path = path.to_string_lossy();
        records.iter().find(|record| record.path == path).or(records.first())
    }

    fn records(self, name: &str) -> &'a [Trusted] {
        self.0.and_then(|hooks| hooks.get(name)).map_or(&[], Vec::as_slice)
    }
}

impl TrustStore {
    /// The store in the file at `path`, which need not exist. If it cannot be read, nothing is trusted.
    pub fn open(path: PathBuf) -> (Self, Vec<Diagnostic>) {
        let (projects, problem) = match read(&path) {
            Ok(projects) => (projects, None),
            Err(problem) => (Projects::new(), Some(problem.diagnostic(&path))),
        };
        (Self { path, projects }, Vec::from_iter(problem))
    }

    /// What was trusted in the project with this root.
    pub fn of(&self, project: &Path) -> ProjectTrust<'_> {
        ProjectTrust(key(project).ok().and_then(|key| self.projects.get(&key)))
    }

    /// Every record as project root, full name and what was trusted, in that order.
    pub fn list(&self) -> impl Iterator<Item = (&Path, &str, &Trusted)> {
        self.projects.iter().flat_map(|(project, hooks)| {
            let records = hooks
                .iter()
                .flat_map(|(name, records)| records.iter().map(move |record| (name, record)));
            records.map(move |(name, record)| (Path::new(project), name.as_str(), record))
        })
    }

    /// Trusts these hooks of a project as they are. `now` is RFC 3339 in UTC.
    pub fn trust(
        &mut self,
        project: &Path,
        entries: &[TrustEntry],
        now: &str,
    ) -> Result<(), TrustError> {
        let project = key(project)?;
        self.update(|projects| {
            let hooks = projects.entry(project).or_default();
            for entry in entries {
                let records = hooks.entry(entry.name.clone()).or_default();
                let path = entry.path.to_string_lossy().into_owned();
                records.retain(|record| record.path != path);
                let (hash, events) = (entry.fingerprint.clone(), entry.events.clone());
                records.push(Trusted { hash, path, events, trusted_at: now.to_owned() });
            }
        })
    }

    /// Ends the trust in one hook of a project, or in all of them. Returns how many records that ended.
    pub fn revoke(&mut self, project: &Path, name: Option<&str>) -> Result<usize, TrustError> {
        let project = key(project)?;
        self.update(|projects| {
            let Some(hooks) = projects.get_mut(&project) else { return 0 };
            let revoked = match name {
                Some(name) => hooks.remove(name).map_or(0, |records| records.len()),
                None => std::mem::take(hooks).values().map(Vec::len).sum(),
            };
            projects.retain(|_, hooks| !hooks.is_empty());
            revoked
        })
    }

    /// Changes the store as it is on disk now, which others may have written since it was opened.
    fn update<R>(&mut self, change: impl FnOnce(&mut Projects) -> R) -> Result<R, TrustError> {
        let failed = |source| TrustError::Io { path: self.path.clone(), source };
        let _lock = lock(&self.path).map_err(failed)?;
        let mut projects = match read(&self.path) {
            Ok(projects) => projects,
            Err(Unreadable::Corrupt(_)) => {
                fs::rename(&self.path, corrupt_copy(&self.path)).map_err(failed)?;
                Projects::new()
            }
            Err(Unreadable::Newer(version)) => {
                return Err(TrustError::Newer { path: self.path.clone(), version });
            }
            Err(Unreadable::Io(source)) => return Err(failed(source)),
        };
        let result = change(&mut projects);
        let content = Content { version: VERSION, projects };
        let bytes = serde_json::to_vec_pretty(&content).map_err(|error| failed(error.into()))?;
        replace_file::replace(&self.path, &bytes).map_err(failed)?;
        self.projects = content.projects;
        Ok(result)
    }
}

/// The project's path as the store names it: without links, so that every way to a project finds its records.
fn key(project: &Path) -> Result<String, TrustError> {
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    real.into_os_string().into_string().map_err(|path| TrustError::Unnameable(path.into()))
}

/// Waits until nobody else writes the store; the lock ends with the file returned. It is a file of its own because the
/// store itself is replaced.
fn lock(path: &Path) -> io::Result<File> {
    replace_file::make_folder_of(path)?;
    let lock = path.with_added_extension("lock");
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

fn corrupt_copy(path: &Path) -> PathBuf {
    path.with_added_extension("corrupt")
}

enum Unreadable {
    Corrupt(String),
    Newer(u32),
    Io(io::Error),
}

impl Unreadable {
    fn diagnostic(&self, path: &Path) -> Diagnostic {
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

fn read(path: &Path) -> Result<Projects, Unreadable> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Projects::new()),
        Err(error) => return Err(Unreadable::Io(error)),
    };
    let corrupt = |error: serde_json::Error| Unreadable::Corrupt(error.to_string());
    let Version { version } = serde_json::from_slice(&bytes).map_err(corrupt)?;
    if version > VERSION {
        return Err(Unreadable::Newer(version));
    }
    let content: Content = serde_json::from_slice(&bytes).map_err(corrupt)?;
    Ok(content.projects)
}
