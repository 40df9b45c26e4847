//! Plans a change of a host's file, without making it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tenter_protocol::Diagnostic;

use super::command::RegisteredCommand;
use super::handlers::{EventHandler, Options};
use super::json::{self, Created, Handler};
use super::record::{self, RegistrationRecord};
use super::settings_file::SettingsFile;
use super::target::Target;

/// A change of a host's file.
#[derive(Debug)]
pub struct Plan {
    target: Target,
    pub(super) file: SettingsFile,
    after: Option<String>,
    /// What is recorded once the change is made; `None` for a removal.
    pub(super) record: Option<RegistrationRecord>,
    /// Whether the directory of a removed file was created for it.
    pub(super) created_directory: bool,
}

impl Plan {
    /// The file before the change; `None` if it does not exist.
    pub fn before(&self) -> Option<&str> {
        self.file.text()
    }

    /// The file after the change; `None` if it is removed or still does not exist.
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Whether the file changes.
    pub fn is_change(&self) -> bool {
        self.before() != self.after()
    }

    /// The host and the file.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Plans a registration with these handlers. Nothing changes if it is complete.
    pub(super) fn install(
        target: &Target,
        handlers: &[EventHandler],
        options: Options,
        recorded: Option<&RegistrationRecord>,
    ) -> Result<Self, Diagnostic> {
        let file = SettingsFile::read(&target.file)?;
        let text = file.text().unwrap_or_default();
        let mut record = recorded.cloned().unwrap_or_else(|| without_record(target, &file));
        record.fail_closed = options.fail_closed;
        let after = if is_complete(target, text, handlers)? {
            file.text().map(str::to_owned)
        } else {
            let clean = without_ours(target, text, recorded)?;
            let installed =
                json::install(&clean, handlers).map_err(|error| error.at(&target.file))?;
            record.created = installed.created;
            record.digest = record::digest(&installed.text);
            record.inserted = installed.inserted;
            Some(installed.text)
        };
        let created_directory = record.created_directory;
        Ok(Self { target: target.clone(), file, after, record: Some(record), created_directory })
    }

    /// Plans the removal of a registration. Nothing changes if there is none.
    pub(super) fn remove(
        target: &Target,
        recorded: Option<&RegistrationRecord>,
    ) -> Result<Self, Diagnostic> {
        let file = SettingsFile::read(&target.file)?;
        let clean = file.text().map(|text| without_ours(target, text, recorded)).transpose()?;
        let created_file = recorded.is_some_and(|record| record.created_file);
        let after = clean.filter(|clean| !(created_file && clean.trim().is_empty()));
        let created_directory = recorded.is_some_and(|record| record.created_directory);
        Ok(Self { target: target.clone(), file, after, record: None, created_directory })
    }
}

/// The handlers of ours in the text of a target.
pub(super) fn find(target: &Target, text: &str) -> Result<Vec<Handler>, Diagnostic> {
    json::find(text, is_ours(target)).map_err(|error| error.at(&target.file))
}

/// The id of the registration in the text of a target.
pub(super) fn id_in(target: &Target, text: &str) -> Result<Option<String>, Diagnostic> {
    let mut handlers = find(target, text)?.into_iter();
    let id = |one: Handler| RegisteredCommand::of_handler(target.host.id, &one.value)?.id;
    Ok(handlers.find_map(id))
}

fn is_ours(target: &Target) -> impl Fn(&Value) -> bool {
    |handler| RegisteredCommand::of_handler(target.host.id, handler).is_some()
}

/// Whether the text has exactly these handlers of ours.
fn is_complete(target: &Target, text: &str, wanted: &[EventHandler]) -> Result<bool, Diagnostic> {
    let found = find(target, text)?;
    let is_there = |(event, value): &EventHandler| {
        found.iter().any(|one| one.is_unconditional && one.event == *event && one.value == *value)
    };
    Ok(found.len() == wanted.len() && wanted.iter().all(is_there))
}

/// The text without our handlers: the original one if nothing else changed since the installation.
fn without_ours(
    target: &Target,
    text: &str,
    recorded: Option<&RegistrationRecord>,
) -> Result<String, Diagnostic> {
    let unchanged = recorded.filter(|record| record.digest == record::digest(text));
    if let Some(original) = unchanged.and_then(|record| json::undo(text, &record.inserted)) {
        return Ok(original);
    }
    let created = recorded.map_or_else(|| assumed(target), |record| record.created.clone());
    json::remove(text, is_ours(target), &created).map_err(|error| error.at(&target.file))
}

/// What an installation without a record probably created.
fn assumed(target: &Target) -> Created {
    let events = target.host.events.iter().map(|event| event.name.to_owned()).collect();
    Created { root: false, hooks: true, events }
}

/// The record of an installation that has none yet.
fn without_record(target: &Target, file: &SettingsFile) -> RegistrationRecord {
    let directory = target.file.parent();
    RegistrationRecord {
        host: target.host.id.to_owned(),
        scope: target.scope,
        file: target.file.clone(),
        program: PathBuf::new(),
        installed_at: String::new(),
        fail_closed: false,
        created_file: file.text().is_none(),
        created_directory: !directory.is_none_or(Path::exists),
        created: assumed(target),
        digest: String::new(),
        inserted: Vec::new(),
    }
}
