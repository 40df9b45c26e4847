//! The values that hooks keep with the `state` service (S7): JSON by key, for a project or for one conversation.
//!
//! Each hook has one file per scope. A change reads the file, writes a new one and renames it, under a lock of the hook's own, so
//! that changes of several processes are not lost and no hook waits for another.

mod entries;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};
use tenter_base::{FileLock, hex, private_dir, replace_file, untrusted_file};
use thiserror::Error;

use crate::hook_state::HookOwner;
use entries::Entries;

pub(crate) use entries::Versioned;

/// Maximum size of what a hook keeps in one scope, in bytes of JSON.
const MAX_BYTES: u64 = 1 << 20;
/// Values of a conversation are removed when they have not changed for this long.
const SESSION_AGE: Duration = Duration::from_hours(30 * 24);
/// Length of the hash in the name of a conversation's directory.
const HASH: usize = 32;
/// The directory of the values of conversations.
const SESSIONS: &str = "session";

/// The values of all hooks of the user.
#[derive(Debug, Clone)]
pub(crate) struct HookValues {
    root: PathBuf,
}

/// The owner of values, besides the hook and its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueScope<'a> {
    /// The project: values are kept until the hook deletes them.
    Project,
    /// The conversation with this id: values go with it.
    Session(&'a str),
}

/// The reason why a value cannot be read or changed.
#[derive(Debug, Error)]
pub(crate) enum ValueError {
    #[error("the state cannot be used: {0}")]
    Io(#[from] io::Error),
    #[error("the state in {} is damaged ({why}); remove the file to start anew", .path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("a hook keeps at most 1 MiB of state for a project or session")]
    TooLarge,
    #[error("the version is {0}")]
    Conflict(u64),
    #[error("the value is not a number")]
    NotANumber,
    #[error("the sum is not a number that JSON has")]
    Overflow,
}

impl HookValues {
    /// Creates the values below `root`, which is created when it is needed.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the values of one hook in one scope. `now` is the present time.
    pub(crate) fn file(
        &self,
        owner: HookOwner<'_>,
        scope: ValueScope<'_>,
        now: Timestamp,
    ) -> ValueFile {
        let name = owner.file_name();
        let directory = match scope {
            ValueScope::Project => self.root.join("project"),
            ValueScope::Session(conversation) => self.session(conversation),
        };
        let lock = self.root.join("locks").join(&name);
        let sessions = matches!(scope, ValueScope::Session(_)).then(|| self.root.join(SESSIONS));
        ValueFile { path: directory.join(format!("{name}.json")), lock, sessions, now }
    }

    /// Removes what hooks keep for a conversation, which was deleted.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(crate) fn forget(&self, conversation: &str) -> io::Result<()> {
        match fs::remove_dir_all(self.session(conversation)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn session(&self, conversation: &str) -> PathBuf {
        let hash = hex(&Sha256::digest(conversation));
        self.root.join(SESSIONS).join(&hash[..HASH])
    }
}

/// The values of one hook in one scope.
#[derive(Debug)]
pub(crate) struct ValueFile {
    path: PathBuf,
    lock: PathBuf,
    /// The directory with the values of all conversations, if this is one of them.
    sessions: Option<PathBuf>,
    now: Timestamp,
}

impl ValueFile {
    /// Returns the value of `key` and its version.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Versioned>, ValueError> {
        Ok(self.read()?.get(key).cloned())
    }

    /// Sets a value, if its version is `if_version` or none is given, and returns the new version.
    ///
    /// # Errors
    /// The version is another one, there would be more than fits, or the file cannot be read or written.
    pub(crate) fn set(
        &self,
        key: &str,
        value: Value,
        if_version: Option<u64>,
    ) -> Result<u64, ValueError> {
        self.change(|entries| {
            entries.verify(key, if_version)?;
            Ok(entries.set(key, value))
        })
    }

    /// Adds to a number, which is 0 if there is none, and returns the sum.
    ///
    /// # Errors
    /// The value is not a number, the sum is none that JSON has, or the file cannot be read or written.
    pub(crate) fn add(&self, key: &str, by: &Number) -> Result<Versioned, ValueError> {
        self.change(|entries| {
            let value = Value::Number(sum(entries.get(key).map(|entry| &entry.value), by)?);
            let version = entries.set(key, value.clone());
            Ok(Versioned { value, version })
        })
    }

    /// Deletes a value and returns whether there was one.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn delete(&self, key: &str) -> Result<bool, ValueError> {
        self.change(|entries| Ok(entries.remove(key)))
    }

    /// Changes several values at once; nothing is written if `change` fails.
    ///
    /// # Errors
    /// `change` fails, or the file cannot be read or written.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Entries) -> Result<T, ValueError>,
    ) -> Result<T, ValueError> {
        private_dir::create_parent(&self.lock)?;
        let _lock = FileLock::acquire(&self.lock)?;
        let mut entries = self.read()?;
        let result = change(&mut entries)?;
        let bytes = serde_json::to_vec(&entries).map_err(io::Error::other)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ValueError::TooLarge);
        }
        if let Some(sessions) = &self.sessions
            && !self.path.exists()
        {
            remove_old(sessions, SystemTime::from(self.now));
        }
        replace_file::replace(&self.path, &bytes)?;
        Ok(result)
    }

    fn read(&self) -> Result<Entries, ValueError> {
        let damaged = |why: String| ValueError::Damaged { path: self.path.clone(), why };
        let bytes = match untrusted_file::read_no_follow(&self.path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Entries::default()),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(error.into()),
            Err(error) => return Err(damaged(error.to_string())),
        };
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))
    }
}

fn sum(value: Option<&Value>, by: &Number) -> Result<Number, ValueError> {
    let zero = Number::from(0);
    let before = match value {
        None => &zero,
        Some(Value::Number(number)) => number,
        Some(_) => return Err(ValueError::NotANumber),
    };
    if let (Some(before), Some(by)) = (before.as_i64(), by.as_i64()) {
        return before.checked_add(by).map(Number::from).ok_or(ValueError::Overflow);
    }
    let sum = before.as_f64().zip(by.as_f64()).map(|(before, by)| before + by);
    sum.and_then(Number::from_f64).ok_or(ValueError::Overflow)
}

/// Removes the values of conversations in which no hook changed any for 30 days. What cannot be removed is tried again with the
/// next new conversation.
fn remove_old(sessions: &Path, now: SystemTime) {
    let Ok(directories) = fs::read_dir(sessions) else { return };
    for directory in directories.flatten() {
        let modified = directory.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
        if age.is_some_and(|age| age > SESSION_AGE) {
            let _ = fs::remove_dir_all(directory.path());
        }
    }
}

#[cfg(test)]
mod tests;
