//! Reads from hosts' files why hooks may not run: settings that switch them off, missing trust, files that a host ignores.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tenter_protocol::Diagnostic;

use super::change::Target;
use super::plan;
use super::registry::{Registry, read};
use super::{json, toml, trust};
use crate::Host;

/// A setting that switches hooks off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilencingSetting {
    /// The file.
    pub file: PathBuf,
    /// The keys that lead to it, joined by dots.
    pub key: &'static str,
    /// Its value.
    pub value: bool,
    /// The line in the file, from 1.
    pub line: usize,
}

/// The reason why a host ignores a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredFile {
    /// The kind of file that the host reads, such as `no comments and no trailing commas`.
    pub reads: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// Maximum depth at which hosts keep sessions in their directory: by year, month and day, or by project and session.
const MAX_SESSION_DEPTH: usize = 5;

impl Registry {
    /// Returns the settings of the user and at `targets` that switch the hooks of a host off. Files that cannot be read have none.
    pub fn silencing_settings(
        &self,
        host: &'static Host,
        targets: &[Target],
    ) -> Vec<SilencingSetting> {
        let mut settings = Vec::new();
        for silencer in host.registration.silencers {
            let user = Path::new(host.registration.user_file).parent().unwrap_or(Path::new(""));
            let files: Vec<PathBuf> = match silencer.file {
                None => targets.iter().map(|target| target.file.clone()).collect(),
                Some(file) => {
                    vec![self.in_host_directory(host, &user.join(file).to_string_lossy())]
                }
            };
            let keys: Vec<&str> = silencer.key.split('.').collect();
            for file in files {
                let Ok(text) = read(&file) else { continue };
                let is_toml = file.extension().is_some_and(|extension| extension == "toml");
                let switch = if is_toml { toml::switch } else { json::switch };
                if let Ok(Some((value, line))) = switch(&text, &keys)
                    && value == silencer.value
                {
                    settings.push(SilencingSetting { file, key: silencer.key, value, line });
                }
            }
        }
        settings
    }

    /// Counts the handlers at `target` that the host does not run because the user does not trust their hashes (B41).
    ///
    /// # Errors
    /// A file cannot be read or is not valid.
    pub fn untrusted(&self, target: &Target) -> Result<usize, Diagnostic> {
        let (Some(trust_file), Some(format)) =
            (&target.trust_file, target.host.registration.entries())
        else {
            return Ok(0);
        };
        let handlers = plan::find(target, format, &read(&target.file)?)?;
        let entries = trust::entries(&target.file, &handlers);
        toml::missing_trust(&read(trust_file)?, &entries).map_err(|error| error.at(trust_file))
    }

    /// Returns the time at which the newest session of the host changed; `None` if there is none, or if its directory is unknown.
    pub fn newest_session(&self, host: &Host) -> Option<SystemTime> {
        let directory = self.in_host_directory(host, host.registration.sessions?);
        newest(&directory, MAX_SESSION_DEPTH)
    }

    /// Returns why the host ignores the file of `target`; `None` if it reads it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn ignored_because(&self, target: &Target) -> Result<Option<IgnoredFile>, Diagnostic> {
        let Some(format) = target.host.registration.entries() else { return Ok(None) };
        let ignored = json::ignored(&read(&target.file)?, format.reads);
        Ok(ignored.map(|(reads, line, column)| IgnoredFile { reads, line, column }))
    }
}

/// Returns the time at which the newest file in a directory changed, to this depth.
fn newest(directory: &Path, depth: usize) -> Option<SystemTime> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    let times = entries.filter_map(|entry| match entry.metadata().ok()? {
        metadata if metadata.is_dir() && depth > 0 => newest(&entry.path(), depth - 1),
        metadata if metadata.is_file() => metadata.modified().ok(),
        _ => None,
    });
    times.max()
}
