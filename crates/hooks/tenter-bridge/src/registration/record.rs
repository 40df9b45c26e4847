//! What was registered where. The hosts' files are the truth: without the record, less is restored when a registration is removed.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenter_base::{hex, replace_file, untrusted_file};

use super::edit;
use super::entry::{Created, Installed};
use super::settings_file::SettingsFile;
use crate::host::Scope;

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
    /// The host's file, or the directory of the files.
    pub file: PathBuf,
    /// The program to which the link led.
    pub program: PathBuf,
    /// When it was installed, in RFC 3339.
    pub installed_at: String,
    /// Whether the host blocks if the program fails.
    pub fail_closed: bool,
    /// The version of the host for which hooks are registered; `None` if it was unknown.
    #[serde(default)]
    pub version: Option<String>,
    /// The number of handlers or files; `None` in a record of an earlier version of Tenter, which registered all.
    #[serde(default)]
    pub(super) handlers: Option<usize>,
    /// The files that were changed.
    #[serde(default)]
    pub(super) edits: Vec<FileEdit>,
}

/// What an installation did to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileEdit {
    /// The file.
    pub(super) file: PathBuf,
    /// Whether it was created.
    pub(super) created_file: bool,
    /// The directory that was created for it, if any: the outermost.
    pub(super) created_directory: Option<PathBuf>,
    /// What was created in the file.
    pub(super) created: Option<Created>,
    /// SHA-256 of the file after the installation.
    pub(super) digest: String,
    /// Start and end of everything that was inserted into the file, in bytes.
    pub(super) inserted: Vec<(usize, usize)>,
}

impl FileEdit {
    /// What is recorded of a file; if nothing is, the file was not edited yet.
    pub(super) fn of(file: &SettingsFile, recorded: Option<&RegistrationRecord>) -> Self {
        let path = file.path();
        if let Some(edit) = recorded.and_then(|record| record.edit(path)) {
            return edit.clone();
        }
        let is_missing = |directory: &&Path| !directory.exists();
        let missing = path.ancestors().skip(1).take_while(is_missing).last();
        Self {
            file: path.to_owned(),
            created_file: file.text().is_none(),
            created_directory: missing.map(Path::to_owned),
            ..Self::default()
        }
    }

    /// Notes an installation.
    pub(super) fn set(&mut self, installed: Installed) -> String {
        self.created = Some(installed.created);
        self.digest = digest(&installed.text);
        self.inserted = installed.inserted;
        installed.text
    }

    /// The text before the installation; `None` if it was changed since.
    pub(super) fn undone(&self, text: &str) -> Option<String> {
        (self.digest == digest(text)).then(|| edit::undo(text, &self.inserted)).flatten()
    }
}

impl RegistrationRecord {
    fn edit(&self, file: &Path) -> Option<&FileEdit> {
        self.edits.iter().find(|edit| edit.file == file)
    }
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
    pub(super) fn registrations(&self) -> &[RegistrationRecord] {
        &self.registrations
    }

    /// The same without the record.
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
fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
