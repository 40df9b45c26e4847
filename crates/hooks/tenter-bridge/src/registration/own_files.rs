//! Files that have nothing but a registration: written and removed whole. Files without our mark are another program's.

use std::path::{Path, PathBuf};

use tenter_protocol::{Diagnostic, Severity};

use super::change::{SettingsChange, Target};
use super::record::{FileEdit, RegistrationRecord};
use super::settings_file::SettingsFile;
use crate::host::{OWN_FILE_MARK, OwnFile};

/// Mode of a file that is a program.
const PROGRAM_MODE: u32 = 0o755;

/// Plans that the files have these texts. Recorded files that are not among them are removed.
pub(super) fn install(
    target: &Target,
    files: Vec<OwnFile>,
    executable: bool,
    record: Option<&RegistrationRecord>,
) -> Result<Vec<SettingsChange>, Diagnostic> {
    let mut changes = Vec::new();
    for OwnFile { path, text } in files {
        let file = SettingsFile::read(&target.file.join(path))?;
        if file.text().is_some_and(|text| !is_ours(text)) {
            return Err(foreign(target, &file));
        }
        let file = if executable { file.with_mode(PROGRAM_MODE) } else { file };
        let edit = FileEdit::recorded(&file, record);
        changes.push(SettingsChange::new(file, Some(text), edit));
    }
    let is_other = |edit: &&FileEdit| changes.iter().all(|change| change.path() != edit.file);
    let edits = record.map_or(&[][..], |record| &record.edits);
    let others: Vec<&FileEdit> = edits.iter().filter(is_other).collect();
    for edit in others {
        changes.extend(removal(&edit.file, record)?);
    }
    Ok(changes)
}

/// Plans that these files, and those that are recorded, are removed.
pub(super) fn remove(
    target: &Target,
    files: Vec<OwnFile>,
    record: Option<&RegistrationRecord>,
) -> Result<Vec<SettingsChange>, Diagnostic> {
    let mut paths: Vec<PathBuf> =
        files.into_iter().map(|file| target.file.join(file.path)).collect();
    let edits = record.map_or(&[][..], |record| &record.edits);
    let others = edits.iter().map(|edit| &edit.file).filter(|file| !paths.contains(file));
    let others: Vec<PathBuf> = others.cloned().collect();
    paths.extend(others);
    let mut changes = Vec::new();
    for path in &paths {
        changes.extend(removal(path, record)?);
    }
    Ok(changes)
}

/// Plans the removal of a file, if it is ours.
fn removal(
    path: &Path,
    record: Option<&RegistrationRecord>,
) -> Result<Option<SettingsChange>, Diagnostic> {
    let file = SettingsFile::read(path)?;
    let edit = FileEdit::recorded(&file, record);
    Ok(file.text().is_some_and(is_ours).then(|| SettingsChange::new(file, None, edit)))
}

/// Returns whether a file is ours.
pub(super) fn is_ours(text: &str) -> bool {
    text.contains(OWN_FILE_MARK)
}

/// Returns the id of the registration in a file of ours.
pub(super) fn id(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(OWN_FILE_MARK)?;
    rest.trim_start_matches(' ').split(|c: char| !c.is_ascii_alphanumeric()).next()
}

fn foreign(target: &Target, file: &SettingsFile) -> Diagnostic {
    let message = format!("{} runs this file, which another program wrote", target.host.name);
    Diagnostic::new("registration-foreign-file", Severity::Error, message).at(file.path()).help(
        "move it to another name or directory that the agent reads, and run the command again",
    )
}
