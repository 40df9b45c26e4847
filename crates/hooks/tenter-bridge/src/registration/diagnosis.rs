//! Reads from hosts' files why hooks may not run: settings that switch them off, missing trust, files that a host ignores.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fmt, fs};

use tenter_base::untrusted_file;
use tenter_protocol::Diagnostic;

use super::change::Target;
use super::registry::{Registry, read};
use super::{json, plan, toml, trust, validate};
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
    /// The reason as a clause, such as `it reads no comments and no trailing commas`.
    pub why: String,
    /// The line and the column, from 1; `None` if another file is the reason.
    pub place: Option<(usize, usize)>,
    /// The remedy.
    pub help: &'static str,
}

impl fmt::Display for IgnoredFile {
    fn fmt(&self, output: &mut fmt::Formatter<'_>) -> fmt::Result {
        output.write_str(&self.why)?;
        let Some((line, column)) = self.place else { return Ok(()) };
        write!(output, " (line {line}, column {column})")
    }
}

/// Maximum depth at which hosts keep sessions in their directory: by year, month and day, or by project and session.
const MAX_SESSION_DEPTH: usize = 5;
/// Maximum number of directories between the directory of plugins and a plugin.
const MAX_PLUGIN_DEPTH: usize = 5;
/// Maximum number of entries of a directory that are searched for plugins.
const MAX_PLUGINS: usize = 100;

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

    /// Returns the hooks of an installed plugin that registers Tenter with the host.
    pub fn plugin(&self, host: &Host) -> Option<PathBuf> {
        let directory = self.in_host_directory(host, host.registration.plugins?);
        let is_ours = |file: &Path| {
            let text = untrusted_file::read_to_string(file).unwrap_or_default();
            text.contains(&format!(" {} SessionStart", host.id)) && text.contains(super::PROGRAM)
        };
        find_plugin(&directory, MAX_PLUGIN_DEPTH, &is_ours)
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
        Ok(ignored(target.host, &target.file, &read(&target.file)?))
    }
}

/// Returns why a host ignores a settings file with this text; `None` if it reads it.
pub(crate) fn ignored(host: &Host, file: &Path, text: &str) -> Option<IgnoredFile> {
    let format = host.registration.entries()?;
    if file.extension().is_some_and(|ending| ending == "toml" || ending == "md") {
        return None;
    }
    if let Some((reads, line, column)) = json::ignored(text, format.reads) {
        let (why, place) = (format!("it reads {reads}"), Some((line, column)));
        return Some(IgnoredFile {
            why,
            place,
            help: "remove what it does not read from the file",
        });
    }
    let other = host.registration.replaced_by.filter(|name| !file.ends_with(name));
    if let Some(name) = other.filter(|name| file.with_file_name(name).is_file()) {
        let why = format!("`{name}` beside it replaces its hooks");
        return Some(IgnoredFile {
            why,
            place: None,
            help: "put all hooks into one of the two files",
        });
    }
    let value = (host.id == "claude-code").then(|| validate::rejected(text)).flatten()?;
    let place = value.span.map(|span| (span.line, span.column));
    Some(IgnoredFile { why: value.message, place, help: "correct it, or remove it from the file" })
}

/// Returns the first `hooks/hooks.json` below a directory that passes the test. Symlinks are not followed.
fn find_plugin(directory: &Path, depth: usize, is_ours: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let hooks = directory.join("hooks/hooks.json");
    if is_ours(&hooks) {
        return Some(hooks);
    }
    let entries = fs::read_dir(directory).ok().filter(|_| depth > 0)?;
    let directories = entries
        .flatten()
        .take(MAX_PLUGINS)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    directories.map(|entry| entry.path()).find_map(|path| find_plugin(&path, depth - 1, is_ours))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts;

    #[test]
    fn a_plugin_that_registers_tenter_is_found_among_others() {
        let home = tempfile::tempdir().unwrap();
        let registry = Registry::in_home(home.path());
        let host = hosts::find("claude-code").unwrap();
        let plugin = |path: &str, command: &str| {
            let hooks = home.path().join(path).join("hooks/hooks.json");
            fs::create_dir_all(hooks.parent().unwrap()).unwrap();
            fs::write(&hooks, command).unwrap();
            hooks
        };
        assert_eq!(registry.plugin(host), None, "there is no directory");
        plugin(".claude/plugins/cache/other/other/1.0.0", "other-hook claude-code SessionStart");
        plugin(".claude/plugins/cache/tenter/tenter/0.1.0", "tenter-hook gemini SessionStart");
        assert_eq!(registry.plugin(host), None);
        let command =
            r#"exec \"$HOME/.local/share/tenter/bin/tenter-hook\" claude-code SessionStart"#;
        let hooks = plugin(".claude/plugins/cache/tenter/tenter/0.1.0", command);
        assert_eq!(registry.plugin(host), Some(hooks));
    }
}
