//! What was registered where. The hosts' files are the truth: without the record, less is restored when a registration is removed.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenter_base::{hex, replace_file, untrusted_file};

use super::json::Created;
use super::target::Scope;

/// The registrations that this user installed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    registrations: Vec<RegistrationRecord>,
}

/// One registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationRecord {
    /// The host's id.
    pub host: String,
    /// For whom it is.
    pub scope: Scope,
    /// The host's file.
    pub file: PathBuf,
    /// The program to which the link led.
    pub program: PathBuf,
    /// When it was installed, in RFC 3339.
    pub installed_at: String,
    /// Whether the host blocks if the program fails.
    pub fail_closed: bool,
    /// Whether the file was created.
    #[serde(default)]
    pub(super) created_file: bool,
    /// Whether the directory of the file was created.
    #[serde(default)]
    pub(super) created_directory: bool,
    /// What was created in the file.
    #[serde(default)]
    pub(super) created: Created,
    /// SHA-256 of the file after the installation.
    #[serde(default)]
    pub(super) digest: String,
    /// Start and end of everything that was inserted into the file, in bytes.
    #[serde(default)]
    pub(super) inserted: Vec<(usize, usize)>,
}

impl Records {
    /// Reads the record; an unreadable one is empty.
    pub(super) fn read(path: &Path) -> Self {
        let text = untrusted_file::read_to_string(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Writes the record.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        replace_file::replace(path, format!("{text}\n").as_bytes())
    }

    /// Every registration, in the order of their installation.
    pub(super) fn into_registrations(self) -> Vec<RegistrationRecord> {
        self.registrations
    }

    /// The registration of a host in a file.
    pub(super) fn get(&self, host: &str, file: &Path) -> Option<&RegistrationRecord> {
        self.registrations.iter().find(|record| record.host == host && record.file == file)
    }

    /// Removes the registration of a host in a file.
    pub(super) fn remove(&mut self, host: &str, file: &Path) {
        self.registrations.retain(|record| record.host != host || record.file != file);
    }

    /// Adds a registration, which replaces an earlier one of the same host in the same file.
    pub(super) fn add(&mut self, record: RegistrationRecord) {
        self.remove(&record.host, &record.file);
        self.registrations.push(record);
    }
}

/// The digest by which a record recognises a file's content.
pub(super) fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
