//! Plans changes of a host's files, without making them.

use std::fs;

use serde_json::Value;
use tenter_protocol::{Diagnostic, Severity};

use super::change::{SettingsChange, Target};
use super::command::RegisteredCommand;
use super::entry::{Created, EventHandler, Handler, Installed};
use super::handlers::{Form, RegistrationContent};
use super::record::{FileEdit, RegistrationRecord};
use super::settings_file::SettingsFile;
use super::toml::{with_trust, without_trust};
use super::{json, own_files, toml, trust, variable};
use crate::host::{EntryFormat, EntryLayout};
use crate::shell_prefix;

/// A planned change of a host's files.
#[derive(Debug)]
pub struct Plan {
    target: Target,
    changes: Vec<SettingsChange>,
    /// The record to write once the change is made; `None` for a removal.
    pub(super) record: Option<RegistrationRecord>,
}

impl Plan {
    /// Returns the changes of all files, also of those that stay as they are.
    pub fn changes(&self) -> &[SettingsChange] {
        &self.changes
    }

    /// Returns whether a file changes.
    pub fn is_change(&self) -> bool {
        self.changes.iter().any(SettingsChange::is_change)
    }

    /// Returns the number of handlers or files of a planned registration; 0 for a removal.
    pub fn handlers(&self) -> usize {
        self.record.as_ref().and_then(|record| record.handlers).unwrap_or_default()
    }

    /// Returns the host and the file.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Plans a registration. Nothing changes if it is complete.
    pub(super) fn install(
        target: &Target,
        content: RegistrationContent,
        form: Form,
        record: Option<&RegistrationRecord>,
    ) -> Result<Self, Diagnostic> {
        let count = content.len();
        let mut changes = match content {
            RegistrationContent::Entries(format, handlers, prefix) => {
                vec![with_entries(target, format, (&handlers, prefix), record)?]
            }
            RegistrationContent::Files(files, executable) => {
                own_files::install(target, files, executable, record)?
            }
        };
        changes.extend(with_trusted(target, &changes, record)?);
        let mut record = record.cloned().unwrap_or_else(|| new_record(target));
        record.fail_closed = form.fail_closed;
        record.handlers = Some(count);
        record.edits = changes.iter().map(|change| change.edit.clone()).collect();
        Ok(Self { target: target.clone(), changes, record: Some(record) })
    }

    /// Plans the removal of a registration. Nothing changes if there is none.
    pub(super) fn remove(
        target: &Target,
        content: RegistrationContent,
        record: Option<&RegistrationRecord>,
    ) -> Result<Self, Diagnostic> {
        let mut changes = match content {
            RegistrationContent::Entries(format, ..) => {
                vec![without_entries(target, format, record)?]
            }
            RegistrationContent::Files(files, _) => own_files::remove(target, files, record)?,
        };
        changes.extend(with_trusted(target, &changes, record)?);
        Ok(Self { target: target.clone(), changes, record: None })
    }

    /// Makes the changes. If one fails, those before it are reverted.
    pub(super) fn apply(&self) -> Result<(), Diagnostic> {
        for (index, change) in self.changes.iter().enumerate() {
            if let Err(error) = change.apply() {
                self.changes[..index].iter().for_each(SettingsChange::revert);
                return Err(error);
            }
        }
        if self.record.is_none() {
            self.changes.iter().for_each(remove_directories);
        }
        Ok(())
    }
}

/// Removes the directories that were created for a removed file. They stay if the user has put files into them.
fn remove_directories(change: &SettingsChange) {
    let Some(outermost) = change.edit.created_directory.as_ref() else { return };
    if change.after().is_none() {
        let directories = change.edit.file.ancestors().skip(1);
        let new_directories = directories.take_while(|directory| directory.starts_with(outermost));
        let _ = new_directories.map(fs::remove_dir).find(Result::is_err);
    }
}

fn with_entries(
    target: &Target,
    format: &EntryFormat,
    (handlers, prefix): (&[EventHandler], Option<String>),
    record: Option<&RegistrationRecord>,
) -> Result<SettingsChange, Diagnostic> {
    let file = SettingsFile::read(&target.file)?;
    let text = file.text().unwrap_or_default();
    let mut edit = FileEdit::recorded(&file, record);
    let present = prefix_in(target, text)?;
    let has_prefix = prefix.is_none() || prefix == present;
    // A registration with our program keeps it.
    let prefix =
        prefix.or_else(|| present.clone().filter(|present| shell_prefix::is_ours(present)));
    let after = if has_prefix && is_complete(target, format, text, handlers)? {
        file.text().map(str::to_owned)
    } else {
        let clean = without_ours(target, format, text, &edit)?;
        let mut installation =
            format.install(&clean, handlers).map_err(|error| error.at(&target.file))?;
        if let Some(prefix) = prefix {
            installation.text = with_prefix(target, &installation.text, &prefix)?;
        }
        Some(edit.record(&clean, installation))
    };
    Ok(SettingsChange::new(file, after, edit))
}

fn without_entries(
    target: &Target,
    format: &EntryFormat,
    record: Option<&RegistrationRecord>,
) -> Result<SettingsChange, Diagnostic> {
    let file = SettingsFile::read(&target.file)?;
    let mut edit = FileEdit::recorded(&file, record);
    // Without a record, the file counts as the user's own.
    edit.created_file &= record.is_some();
    let clean = file.text().map(|text| without_ours(target, format, text, &edit)).transpose()?;
    let after = clean.filter(|clean| !(edit.created_file && clean.trim().is_empty()));
    Ok(SettingsChange::new(file, after, edit))
}

/// Plans the change of the file with the hashes of trusted handlers that follows from a change of the handlers; `None` if the host has
/// no such file.
fn with_trusted(
    target: &Target,
    changes: &[SettingsChange],
    record: Option<&RegistrationRecord>,
) -> Result<Option<SettingsChange>, Diagnostic> {
    let (Some(path), [change], Some(format)) =
        (&target.trust_file, changes, target.host.registration.entries())
    else {
        return Ok(None);
    };
    let entries = |text: Option<&str>| {
        let handlers = find(target, format, text.unwrap_or_default())?;
        Ok::<_, Diagnostic>(trust::entries(change.path(), &handlers))
    };
    let (before, after) = (entries(change.before())?, entries(change.after())?);
    let file = SettingsFile::read(path)?;
    let mut edit = FileEdit::recorded(&file, record);
    let text = file.text().unwrap_or_default();
    let located = |error: Diagnostic| error.at(path);
    let is_stale = before.iter().any(|entry| !after.contains(entry));
    let missing = with_trust(text, &after).map_err(located)?;
    if !is_stale && missing.is_none() {
        let after = file.text().map(str::to_owned);
        return Ok(Some(SettingsChange::new(file, after, edit)));
    }
    let original = edit.undo(text).unwrap_or_else(|| text.to_owned());
    let ours: Vec<_> = before.into_iter().chain(after.iter().cloned()).collect();
    let clean = without_trust(&original, &ours).map_err(located)?;
    let text = match with_trust(&clean, &after).map_err(located)? {
        Some(text) => edit.record(&clean, Installed { text, created: Created::default() }),
        None => clean,
    };
    let is_created = edit.created_file && record.is_some();
    let after = Some(text).filter(|text| !(is_created && text.trim().is_empty()));
    Ok(Some(SettingsChange::new(file, after, edit)))
}

/// Returns our handlers in the text of a target.
pub(super) fn find(
    target: &Target,
    format: &EntryFormat,
    text: &str,
) -> Result<Vec<Handler>, Diagnostic> {
    format.find(text, is_ours(target)).map_err(|error| error.at(&target.file))
}

fn is_ours(target: &Target) -> impl Fn(&Value) -> bool {
    |handler| RegisteredCommand::read(target.host.id, handler).is_some()
}

/// Returns whether the text has exactly these handlers of ours.
fn is_complete(
    target: &Target,
    format: &EntryFormat,
    text: &str,
    expected: &[EventHandler],
) -> Result<bool, Diagnostic> {
    let registered = find(target, format, text)?;
    let is_there = |(event, value): &EventHandler| {
        let is_same = |one: &Handler| one.event == *event && one.value == *value;
        registered.iter().any(|one| one.is_unconditional && is_same(one))
    };
    Ok(registered.len() == expected.len() && expected.iter().all(is_there))
}

/// Returns the text without our handlers: the original one if nothing else changed since the installation.
fn without_ours(
    target: &Target,
    format: &EntryFormat,
    text: &str,
    edit: &FileEdit,
) -> Result<String, Diagnostic> {
    if let Some(original) = edit.undo(text) {
        return Ok(original);
    }
    let structure = edit.created.clone().unwrap_or_else(|| assumed_created(target));
    let has_prefix = prefix_in(target, text)?.is_some_and(|prefix| shell_prefix::is_ours(&prefix));
    let located = |error: Diagnostic| error.at(&target.file);
    let text = match target.host.registration.shell_prefix.filter(|_| has_prefix) {
        Some(name) => &variable::remove(text, name).map_err(located)?,
        None => text,
    };
    format.remove(text, is_ours(target), &structure).map_err(located)
}

/// Returns the program with which the host runs shell commands, according to this text.
fn prefix_in(target: &Target, text: &str) -> Result<Option<String>, Diagnostic> {
    let Some(name) = target.host.registration.shell_prefix else { return Ok(None) };
    variable::find(text, name).map_err(|error| error.at(&target.file))
}

/// Returns the text with our program, which runs shell commands. Another program there stays, and is an error.
fn with_prefix(target: &Target, text: &str, prefix: &str) -> Result<String, Diagnostic> {
    let Some(name) = target.host.registration.shell_prefix else { return Ok(text.to_owned()) };
    if let Some(other) = prefix_in(target, text)? {
        let message = format!("`env.{name}` is set to another program: {other}");
        return Err(Diagnostic::new("registration-file", Severity::Error, message)
            .at(&target.file)
            .help("remove it, or install without --confine"));
    }
    variable::set(text, name, prefix).map_err(|error| error.at(&target.file))
}

/// Returns the parts that an installation without a record probably created.
fn assumed_created(target: &Target) -> Created {
    let events = target.host.events.iter().map(|event| event.name.to_owned()).collect();
    Created { hooks: true, events, ..Created::default() }
}

/// Returns the record of a new installation.
fn new_record(target: &Target) -> RegistrationRecord {
    RegistrationRecord {
        host: target.host.id.to_owned(),
        scope: target.scope,
        file: target.file.clone(),
        ..RegistrationRecord::default()
    }
}

impl EntryFormat {
    /// Returns the handlers in `text` that `is_ours` accepts, in order.
    ///
    /// # Errors
    /// The text is not valid; the diagnostic has the position.
    pub(super) fn find(
        &self,
        text: &str,
        is_ours: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Handler>, Diagnostic> {
        match self.layout {
            EntryLayout::TomlTables { event } => toml::find(text, event, is_ours),
            _ => json::find(text, self, is_ours),
        }
    }

    /// Appends these handlers to their events.
    ///
    /// # Errors
    /// The text is not valid; the diagnostic has the position.
    pub(super) fn install(
        &self,
        text: &str,
        handlers: &[EventHandler],
    ) -> Result<Installed, Diagnostic> {
        match self.layout {
            EntryLayout::TomlTables { event } => {
                let text = toml::install(text, event, handlers)?;
                Ok(Installed { text, created: Created::default() })
            }
            _ => json::install(text, self, handlers),
        }
    }

    /// Removes the handlers that `is_ours` accepts, with everything that is empty then and that the installation created.
    ///
    /// # Errors
    /// The text is not valid; the diagnostic has the position.
    pub(super) fn remove(
        &self,
        text: &str,
        is_ours: impl Fn(&Value) -> bool,
        structure: &Created,
    ) -> Result<String, Diagnostic> {
        match self.layout {
            EntryLayout::TomlTables { .. } => toml::remove(text, is_ours),
            _ => json::remove(text, self, is_ours, structure),
        }
    }
}
