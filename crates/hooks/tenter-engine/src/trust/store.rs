//! The trusted content, by project and hook name, in a file outside every project (R45, R73).
//!
//! Trust is a set: several contents of a hook can be trusted, and several states of a project accepted, so that switching
//! branches does not ask again. If the store cannot be read, nothing is trusted, and a diagnostic is reported. It is
//! never overwritten silently: a damaged file is kept beside the new one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tenter_protocol::Diagnostic;
use thiserror::Error;

use super::file::{self, ProjectRecord, Projects, Unreadable, VERSION};
use super::hasher::Fingerprint;
use super::kept::{Contents, KeptContents};
use super::record::{ProjectState, TrustEntry, Trusted, TrustedKind};
use super::repository;

/// Maximum number of trusted contents per hook.
const MOST_CONTENTS: usize = 16;
/// Maximum number of accepted states per project.
const MOST_STATES: usize = 64;

/// The reason why trust could not be recorded or revoked.
#[derive(Debug, Error)]
pub enum TrustError {
    /// The file or its lock cannot be used.
    #[error("the trust store {} cannot be used: {source}", path.display())]
    Io {
        /// The store.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file has a newer version.
    #[error("the trust store {} has version {version}, but this program supports {VERSION}: use a newer one", path.display())]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// JSON is UTF-8, and two projects must not share a name.
    #[error("the path of the project {} is not UTF-8, so trust in its hooks cannot be recorded", .0.display())]
    Unnameable(PathBuf),
}

/// The trust store.
#[derive(Debug, Clone)]
pub struct TrustStore {
    path: PathBuf,
    contents_store: KeptContents,
    projects: Projects,
}

/// The records of one project: the records of its repository and of its own path.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProjectTrust<'a>([Option<&'a ProjectRecord>; 2]);

impl<'a> ProjectTrust<'a> {
    /// Returns whether exactly this content was trusted under this name.
    pub fn is_trusted(self, name: &str, fingerprint: &Fingerprint) -> bool {
        self.contents(name).any(|content| content.hash == *fingerprint)
    }

    /// Returns whether the user agreed that this content shadows their own hook of this name.
    pub fn may_displace(self, name: &str, fingerprint: &Fingerprint) -> bool {
        self.contents(name).any(|content| content.hash == *fingerprint && content.displaces)
    }

    /// Returns the content that was last trusted under this name, at this path if there are several.
    pub fn previous(self, name: &str, path: &Path) -> Option<&'a Trusted> {
        let path = path.to_string_lossy();
        self.contents(name).max_by_key(|content| (content.path == path, &content.trusted_at))
    }

    /// Returns the names of the hooks that were trusted, sorted.
    pub fn hooks(self) -> BTreeSet<&'a str> {
        let names = self.records().flat_map(|record| record.hooks.keys());
        names.map(String::as_str).filter(|name| TrustedKind::from_name(name).is_none()).collect()
    }

    /// Returns whether this state was accepted.
    pub fn is_accepted(self, state: &ProjectState) -> bool {
        self.records().any(|record| record.states.contains(state))
    }

    /// Returns whether the user accepted a state of the project without the hook of this name.
    pub fn may_lack(self, name: &str) -> bool {
        self.records().any(|record| record.without.contains(name))
    }

    fn contents(self, name: &str) -> impl Iterator<Item = &'a Trusted> {
        self.records().filter_map(move |record| record.hooks.get(name)).flatten()
    }

    fn records(self) -> impl Iterator<Item = &'a ProjectRecord> {
        self.0.into_iter().flatten()
    }
}

impl TrustStore {
    /// Opens the store in the file at `path`, which need not exist. If it cannot be read, nothing is trusted.
    pub fn open(path: PathBuf) -> (Self, Vec<Diagnostic>) {
        let (projects, problem) = match file::read(&path) {
            Ok(projects) => (projects, None),
            Err(problem) => (Projects::new(), Some(problem.diagnostic(&path))),
        };
        let contents_store = KeptContents::beside(&path);
        (Self { path, contents_store, projects }, Vec::from_iter(problem))
    }

    /// Returns the trusted content of the project with this root, in any worktree of its repository.
    pub fn project(&self, project: &Path) -> ProjectTrust<'_> {
        ProjectTrust(keys(project).map(|key| self.projects.get(&key?)))
    }

    /// Returns whether the user trusts hooks of the project with the root `outer`, which is around the top of a repository, and is not in the
    /// main worktree of the same repository.
    pub(crate) fn has_hooks_around(&self, outer: &Path, git_top: &Path) -> bool {
        let is_same_repository = || {
            let real = fs::canonicalize(outer).unwrap_or_else(|_| outer.to_owned());
            repository::in_main_worktree(git_top).is_some_and(|main| real.starts_with(main))
        };
        let record = key(outer).ok().and_then(|key| self.projects.get(&key));
        let project_trust = ProjectTrust([record, None]);
        !project_trust.hooks().is_empty() && !is_same_repository()
    }

    /// Returns all records as project root, full name and content, in that order.
    pub fn list(&self) -> impl Iterator<Item = (&Path, &str, &Trusted)> {
        self.projects.iter().flat_map(|(project, record)| {
            let contents = record
                .hooks
                .iter()
                .flat_map(|(name, contents)| contents.iter().map(move |content| (name, content)));
            contents.map(move |(name, content)| (Path::new(project), name.as_str(), content))
        })
    }

    /// Returns the files of a trusted content, if they were kept.
    pub fn kept(&self, fingerprint: &Fingerprint) -> Option<Contents> {
        self.contents_store.get(fingerprint)
    }

    /// Trusts these hooks of a project in their current state. `now` is RFC 3339 in UTC.
    pub fn trust(
        &mut self,
        project: &Path,
        entries: &[TrustEntry],
        now: &str,
    ) -> Result<(), TrustError> {
        let project = key_to_write(project)?;
        let contents_store = self.contents_store.clone();
        self.update(|projects| {
            let ProjectRecord { hooks, without, .. } = projects.entry(project).or_default();
            for entry in entries {
                contents_store.keep(entry);
                without.remove(&entry.name);
                add(hooks.entry(entry.name.clone()).or_default(), entry, now);
            }
        })
    }

    /// Accepts the current state of the project: hooks that were trusted and do not exist in this state are not reported
    /// as missing, nor after later changes, until they run again. In a project without trusted hooks nothing is recorded.
    pub fn accept(
        &mut self,
        project: &Path,
        state: &ProjectState,
        (lost, running): (&[&str], &[&str]),
    ) -> Result<(), TrustError> {
        let record = self.project(project);
        let is_known = lost.iter().all(|name| record.may_lack(name))
            && !running.iter().any(|name| record.may_lack(name));
        if record.is_accepted(state) && is_known || record.hooks().is_empty() {
            return Ok(());
        }
        let project = key_to_write(project)?;
        self.update(|projects| {
            let ProjectRecord { states, without, .. } = projects.entry(project).or_default();
            without.extend(lost.iter().map(|&name| name.to_owned()));
            without.retain(|name| !running.contains(&name.as_str()));
            states.retain(|other| other != state);
            states.push(state.clone());
            keep_last(states, MOST_STATES);
        })
    }

    /// Accepts that one trusted hook does not run, until it is trusted again. The state of the project is not accepted.
    pub fn accept_loss(&mut self, project: &Path, name: &str) -> Result<(), TrustError> {
        let project = key_to_write(project)?;
        self.update(|projects| {
            projects.entry(project).or_default().without.insert(name.to_owned());
        })
    }

    /// Revokes the trust in one hook of a project, or in all of them. Returns the number of hooks and recipes.
    pub fn revoke(&mut self, project: &Path, name: Option<&str>) -> Result<usize, TrustError> {
        key_to_write(project)?;
        self.update(|projects| {
            let mut revoked = BTreeSet::new();
            for key in keys(project).into_iter().flatten() {
                let Some(record) = projects.get_mut(&key) else { continue };
                let is_revoked = |hook: &str| name.is_none_or(|name| name == hook);
                revoked.extend(
                    record.hooks.extract_if(.., |hook, _| is_revoked(hook)).map(|(name, _)| name),
                );
            }
            projects.retain(|_, record| !record.hooks.is_empty());
            revoked.len()
        })
    }

    /// Changes the current store on disk, which other processes may have written since it was opened.
    fn update<R>(&mut self, change: impl FnOnce(&mut Projects) -> R) -> Result<R, TrustError> {
        let failure = |source| TrustError::Io { path: self.path.clone(), source };
        let _lock = file::lock(&self.path).map_err(failure)?;
        let mut projects = match file::read(&self.path) {
            Ok(projects) => projects,
            Err(Unreadable::Corrupt(_)) => {
                fs::rename(&self.path, file::corrupt_copy(&self.path)).map_err(failure)?;
                Projects::new()
            }
            Err(Unreadable::Newer(version)) => {
                return Err(TrustError::Newer { path: self.path.clone(), version });
            }
            Err(Unreadable::Io(source)) => return Err(failure(source)),
        };
        let result = change(&mut projects);
        file::write(&self.path, &projects).map_err(failure)?;
        self.projects = projects;
        let fingerprints = self.list().map(|(_, _, content)| content.hash.0.as_str()).collect();
        self.contents_store.retain(&fingerprints);
        Ok(result)
    }
}

/// Adds a content to the trusted contents of a hook, as the newest.
fn add(contents: &mut Vec<Trusted>, entry: &TrustEntry, now: &str) {
    let record = contents.iter().position(|content| content.hash == entry.fingerprint);
    let record = record.map(|place| contents.remove(place));
    contents.push(Trusted {
        hash: entry.fingerprint.clone(),
        path: entry.path.to_string_lossy().into_owned(),
        events: entry.events.clone(),
        trusted_at: now.to_owned(),
        displaces: entry.displaces || record.is_some_and(|record| record.displaces),
    });
    keep_last(contents, MOST_CONTENTS);
}

fn keep_last<T>(items: &mut Vec<T>, most: usize) {
    let excess = items.len().saturating_sub(most);
    items.drain(..excess);
}

/// Returns the keys of a project in the store: the main worktree of its repository, if it is in another one, and its own path.
fn keys(project: &Path) -> [Option<String>; 2] {
    let main = repository::in_main_worktree(project);
    [main.and_then(|main| key(&main).ok()), key(project).ok()]
}

/// Returns the key under which new trust in a project is recorded.
fn key_to_write(project: &Path) -> Result<String, TrustError> {
    match repository::in_main_worktree(project) {
        Some(main) => key(&main),
        None => key(project),
    }
}

/// Returns the project's path in the store: without symlinks, so that every path to a project finds its records.
fn key(project: &Path) -> Result<String, TrustError> {
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    real.into_os_string().into_string().map_err(|path| TrustError::Unnameable(path.into()))
}
