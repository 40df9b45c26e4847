//! The values in one file, by key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ValueError;

/// A value with its version, which every change of it raises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Versioned {
    pub(crate) value: Value,
    pub(crate) version: u64,
}

/// The values, and the last version that one of them was given: a deleted value that is set again never has an old version.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Entries {
    last_version: u64,
    values: BTreeMap<String, Versioned>,
}

impl Entries {
    pub(crate) fn get(&self, key: &str) -> Option<&Versioned> {
        self.values.get(key)
    }

    /// Sets a value and returns its new version.
    pub(crate) fn set(&mut self, key: &str, value: Value) -> u64 {
        self.last_version = self.last_version.saturating_add(1);
        let version = self.last_version;
        self.values.insert(key.to_owned(), Versioned { value, version });
        version
    }

    /// Removes a value and returns whether there was one.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        self.values.remove(key).is_some()
    }

    /// Checks the version of `key`, which is 0 without a value.
    ///
    /// # Errors
    /// It is not `if_version`.
    pub(crate) fn verify(&self, key: &str, if_version: Option<u64>) -> Result<(), ValueError> {
        let version = self.get(key).map_or(0, |entry| entry.version);
        match if_version {
            Some(expected) if expected != version => Err(ValueError::Conflict(version)),
            _ => Ok(()),
        }
    }
}
