//! The record of registrations. The hosts' files are the truth: without the record, less is restored when a registration is removed.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenter_base::{hex, replace_file, untrusted_file};

use super::entry::{Created, Installed};
use super::settings_file::SettingsFile;
use crate::host::RegistrationScope;
use crate::{Host, hosts};

/// The registrations that this user installed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    registrations: Vec<RegistrationRecord>,
}

/// One registration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationRecord {
    /// The host's id.
    pub host: String,
    /// The users for whom it is.
    pub scope: RegistrationScope,
    /// The host's file, or the directory of the files.
    pub file: PathBuf,
    /// The target of the link to the program.
    pub program: PathBuf,
    /// The time of the installation, in RFC 3339.
    pub installed_at: String,
    /// True if the host blocks when the program fails.
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

/// The edit that an installation made in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileEdit {
    /// The file.
    pub(super) file: PathBuf,
    /// True if it was created.
    pub(super) created_file: bool,
    /// The directory that was created for it, if any: the outermost.
    pub(super) created_directory: Option<PathBuf>,
    /// The parts of the file that were created.
    pub(super) created: Option<Created>,
    /// SHA-256 of the file after the installation.
    pub(super) digest: String,
    /// The text that the installation replaced.
    #[serde(default)]
    pub(super) replaced: Option<Replaced>,
}

/// A text that an installation replaced by another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Replaced {
    /// The first byte of the new text.
    start: usize,
    /// The number of bytes after the new text.
    rest: usize,
    /// The old text.
    text: String,
}

impl Replaced {
    /// Compares a whole text before and after.
    fn between(before: &str, after: &str) -> Self {
        let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other);
        let start: usize = same.map(|(character, _)| character.len_utf8()).sum();
        let same = before[start..].chars().rev().zip(after[start..].chars().rev());
        let same = same.take_while(|(one, other)| one == other);
        let rest: usize = same.map(|(character, _)| character.len_utf8()).sum();
        Self { start, rest, text: before[start..before.len() - rest].to_owned() }
    }

    /// Returns the whole text before; `None` if `after` is not the text after.
    fn undo(&self, after: &str) -> Option<String> {
        let rest = after.get(after.len().checked_sub(self.rest)?..)?;
        Some(format!("{}{}{rest}", after.get(..self.start)?, self.text))
    }
}

impl FileEdit {
    /// Returns the recorded edit of a file; without one, the file was not edited yet.
    pub(super) fn recorded(file: &SettingsFile, record: Option<&RegistrationRecord>) -> Self {
        let path = file.path();
        if let Some(edit) = record.and_then(|record| record.edit(path)) {
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

    /// Records an installation in the text `before`. Returns the text after it.
    pub(super) fn record(
        &mut self,
        before: &str,
        Installed { text, created: structure }: Installed,
    ) -> String {
        self.created = Some(structure);
        self.digest = digest(&text);
        self.replaced = Some(Replaced::between(before, &text));
        text
    }

    /// Returns the text before the installation; `None` if it was changed since.
    pub(super) fn undo(&self, text: &str) -> Option<String> {
        let replacement = self.replaced.as_ref().filter(|_| self.digest == digest(text));
        replacement.and_then(|replacement| replacement.undo(text))
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

    /// Returns every registration, in the order of their installation.
    pub(super) fn registrations(&self) -> &[RegistrationRecord] {
        &self.registrations
    }

    /// Turns the record into its registrations.
    pub(super) fn into_registrations(self) -> Vec<RegistrationRecord> {
        self.registrations
    }

    /// Returns the registration of a host in a file.
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

/// Returns the digest by which a record recognises a file's content.
fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// The directory of the notes about hosts that run several registrations of ours, beside the record. There, hooks still run once for
/// each event, at the price of a file (B7).
const NOTES: &str = "several";

/// Notes every host that runs several of these registrations.
pub(super) fn note_all_several(directory: &Path, records: &[RegistrationRecord]) -> io::Result<()> {
    for host in hosts::ALL {
        let is_read = |record: &&RegistrationRecord| {
            let also_reads = host.registration.also_reads;
            record.host == host.id || also_reads.contains(&record.host.as_str())
        };
        if records.iter().filter(is_read).count() > 1 {
            note_several(directory, host)?;
        }
    }
    Ok(())
}

/// Notes a host that runs several registrations. The note stays: another registration may be in a file that is not recorded.
pub(super) fn note_several(directory: &Path, host: &Host) -> io::Result<()> {
    let file = directory.join(NOTES).join(host.id);
    if file.exists() {
        return Ok(());
    }
    tenter_base::private_dir::create_parent(&file)?;
    std::fs::write(file, "")
}
