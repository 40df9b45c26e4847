//! `plugin.lock`: the source and the content of every installed plugin (R55).
//!
//! The file is next to the plugins and sorted, so that changes of two users merge. It is replaced atomically, by a process that
//! holds the lock of the directory. A plugin and its record cannot be replaced in one step: the new lock file is written next to the
//! old one before the plugin is moved, and renamed afterwards. If a process dies in between, the next one sees which of the two is
//! right.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_base::untrusted_file;
use tenter_protocol::Diagnostic;

use crate::rules::refused;

/// The name of the file.
pub const LOCK_FILE: &str = "plugin.lock";
const VERSION: u32 = 1;
const HEAD: &str = "# Where each plugin came from and what it is made of. Written by `tenter plugin`; not for editing.\n\n";

/// The records of the plugins in one directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    /// The plugins, by name.
    #[serde(rename = "plugin", default)]
    plugins: Vec<LockedPlugin>,
}

/// The record of one plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedPlugin {
    /// `org/repo`.
    pub name: String,
    /// A URL, or the absolute path of a directory.
    pub source: String,
    /// The requested branch, tag or commit.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The installed commit; `None` for a plain directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The [hash](crate::content::hash) of `files`.
    pub hash: String,
    /// The time of the installation: RFC 3339 in UTC.
    pub installed_at: String,
    /// The [digest](crate::TreeEntry::digest) of every file, by path.
    pub files: BTreeMap<String, String>,
}

impl LockedPlugin {
    /// Returns true if a commit was requested, so that there are no updates.
    pub fn is_pinned(&self) -> bool {
        let (Some(reference), Some(commit)) = (&self.reference, &self.commit) else { return false };
        reference.len() >= 4 && commit.starts_with(&reference.to_ascii_lowercase())
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: VERSION, plugins: Vec::new() }
    }
}

impl Lock {
    /// Reads the lock file in `directory`; it is empty if there is none.
    ///
    /// # Errors
    /// The file cannot be read or parsed, or has a newer version.
    pub fn read(directory: &Path) -> Result<Self, Diagnostic> {
        Self::read_file(&directory.join(LOCK_FILE))
    }

    fn read_file(path: &Path) -> Result<Self, Diagnostic> {
        let unusable = |why: String| {
            refused("plugin-lock-unusable", format!("this lock file {why}"))
                .at(path)
                .help("fix it, or restore an earlier version; it records where plugins came from")
        };
        let text = match untrusted_file::read_to_string(path) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(Self::default());
            }
            Err(error) => return Err(unusable(format!("cannot be read: {error}"))),
        };
        if let Some(version) = version(&text).filter(|version| *version > VERSION) {
            return Err(unusable(format!(
                "has version {version}, which this program does not support"
            )));
        }
        toml::from_str(&text).map_err(|error| unusable(format!("cannot be parsed: {error}")))
    }

    /// Returns the plugins, by name.
    pub fn plugins(&self) -> &[LockedPlugin] {
        &self.plugins
    }

    /// Returns the record of the plugin with this name.
    pub fn get(&self, name: &str) -> Option<&LockedPlugin> {
        self.plugins.iter().find(|plugin| plugin.name == name)
    }

    /// Adds a record, or replaces the one with the same name.
    pub(crate) fn put(&mut self, plugin: LockedPlugin) {
        self.forget(&plugin.name.clone());
        self.plugins.push(plugin);
        self.plugins.sort_by(|one, other| one.name.cmp(&other.name));
    }

    /// Removes the record of a plugin; returns whether there was one.
    pub(crate) fn forget(&mut self, name: &str) -> bool {
        let before = self.plugins.len();
        self.plugins.retain(|plugin| plugin.name != name);
        self.plugins.len() < before
    }

    /// Writes the new lock file next to the one in `directory`, whose lock must be held. Only the rename is left to do.
    pub(crate) fn prepare(&self, directory: &Path) -> io::Result<PreparedLock> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        let lock = PreparedLock::at(directory);
        // A symlink may have come with the project: it is removed, never written through.
        let _ = fs::remove_file(&lock.new);
        let mut file = File::create_new(&lock.new)?;
        file.write_all(HEAD.as_bytes())?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(lock)
    }

    /// Returns the names whose records differ, with the record of this one.
    fn differences<'l>(&'l self, other: &'l Self) -> Vec<(&'l str, Option<&'l LockedPlugin>)> {
        let names: BTreeSet<&str> =
            self.plugins.iter().chain(&other.plugins).map(|plugin| plugin.name.as_str()).collect();
        let here = names.into_iter().map(|name| (name, self.get(name)));
        here.filter(|(name, record)| *record != other.get(name)).collect()
    }
}

/// A new lock file that only needs to be renamed.
pub(crate) struct PreparedLock {
    new: PathBuf,
    place: PathBuf,
}

impl PreparedLock {
    fn at(directory: &Path) -> Self {
        Self { new: directory.join(format!(".{LOCK_FILE}.new")), place: directory.join(LOCK_FILE) }
    }

    /// Returns true if there is one in `directory`: a process is working, or died.
    pub(crate) fn is_left(directory: &Path) -> bool {
        Self::at(directory).new.symlink_metadata().is_ok()
    }

    /// Completes or removes the one in `directory`, whose lock must be held: if all of its changes are on disk, as `is_so` says, it
    /// replaces the lock file.
    pub(crate) fn settle(
        directory: &Path,
        is_so: impl Fn(&str, Option<&LockedPlugin>) -> bool,
    ) -> io::Result<()> {
        if !Self::is_left(directory) {
            return Ok(());
        }
        let lock = Self::at(directory);
        // An incomplete file cannot be parsed; a symlink came with the project.
        let is_file = lock.new.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        let is_true = is_file
            && match (Lock::read_file(&lock.new), Lock::read_file(&lock.place)) {
                (Ok(new), Ok(old)) => {
                    new.differences(&old).into_iter().all(|(name, record)| is_so(name, record))
                }
                _ => false,
            };
        if is_true {
            return lock.put();
        }
        // If it cannot be removed, the next write reports why.
        let _ = fs::remove_file(lock.new);
        Ok(())
    }

    /// Replaces the lock file.
    pub(crate) fn put(self) -> io::Result<()> {
        fs::rename(self.new, self.place)
    }
}

fn version(text: &str) -> Option<u32> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    toml::from_str::<Version>(text).ok().map(|file| file.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(name: &str) -> LockedPlugin {
        LockedPlugin {
            name: name.into(),
            source: "https://host/x/y.git".into(),
            reference: Some("v1".into()),
            commit: Some("1f2e3d4c5b".into()),
            hash: "00".into(),
            installed_at: "2026-01-02T03:04:05.000Z".into(),
            files: BTreeMap::from([("hooks/a \"b\"".to_owned(), "100755 00".to_owned())]),
        }
    }

    #[test]
    fn a_written_lock_is_read_back_sorted() {
        let scratch = tempfile::tempdir().unwrap();
        let mut lock = Lock::read(scratch.path()).unwrap();
        lock.put(locked("b/b"));
        lock.put(locked("a/a"));
        lock.put(LockedPlugin { reference: None, ..locked("b/b") });
        lock.prepare(scratch.path()).and_then(PreparedLock::put).unwrap();
        let copy = Lock::read(scratch.path()).unwrap();
        assert_eq!(copy, lock);
        let names: Vec<&str> = copy.plugins().iter().map(|plugin| plugin.name.as_str()).collect();
        assert_eq!(names, ["a/a", "b/b"]);
        assert_eq!(lock.get("b/b").unwrap().reference, None);
    }

    #[test]
    fn a_damaged_or_newer_lock_is_an_error() {
        let scratch = tempfile::tempdir().unwrap();
        for (text, why) in
            [("version = 2\nnew = true\n", "version 2"), ("<<<<<<< HEAD\n", "cannot be parsed")]
        {
            fs::write(scratch.path().join(LOCK_FILE), text).unwrap();
            let error = Lock::read(scratch.path()).unwrap_err();
            assert!(error.message.contains(why), "{error:?}");
        }
    }

    #[test]
    fn only_a_requested_commit_is_pinned() {
        let plugin = locked("a/a");
        assert!(!plugin.is_pinned());
        assert!(LockedPlugin { reference: Some("1F2E".into()), ..plugin.clone() }.is_pinned());
        assert!(!LockedPlugin { reference: Some("1f2f".into()), ..plugin.clone() }.is_pinned());
        assert!(!LockedPlugin { reference: None, ..plugin }.is_pinned());
    }
}
