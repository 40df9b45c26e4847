//! The places of the settings that decide what a host loads, runs and allows: data.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Any directory.
pub(crate) const ANYWHERE: &str = "";
/// The root directory.
pub(crate) const SYSTEM: &str = "/";

/// Files and directories that decide what a host loads, runs and allows: settings, plugins, MCP servers, permissions and records of
/// trust. What only instructs the model is not listed.
#[derive(Debug, Clone, Copy)]
pub struct SettingsPaths {
    /// Their directories. A relative path means that path in every directory; `~` is the home directory.
    pub directories: &'static [&'static str],
    /// Their paths in each of these directories. A `*` at the beginning is any text.
    pub names: &'static [&'static str],
}

/// Creates the paths of these files and directories in each of these directories.
pub(crate) const fn within(
    directories: &'static [&'static str],
    names: &'static [&'static str],
) -> SettingsPaths {
    SettingsPaths { directories, names }
}

impl SettingsPaths {
    /// Returns the paths as written. Relative ones are protected in every directory.
    pub fn written(self) -> impl Iterator<Item = String> {
        self.directories.iter().flat_map(move |directory| {
            let separator = if directory.is_empty() || directory.ends_with('/') { "" } else { "/" };
            self.names.iter().map(move |name| format!("{directory}{separator}{name}"))
        })
    }
}

/// The variables by which users choose other directories, with the directory in the home directory that each replaces. The variables of
/// registrations are elsewhere.
const VARIABLES: [(&str, &str); 8] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CACHE_HOME", ".cache"),
    ("CLINE_DIR", ".cline"),
    ("CLINE_DATA_DIR", ".cline/data"),
    ("CURSOR_CONFIG_DIR", ".cursor"),
    ("KILO_CONFIG_DIR", ".kilo"),
    ("OPENCODE_CONFIG_DIR", ".opencode"),
];

/// The sources of a user's directories.
#[derive(Debug, Clone, Copy)]
pub struct UserDirectories<'u> {
    /// The home directory.
    pub home: &'u Path,
    /// The environment.
    pub vars: &'u [(OsString, OsString)],
}

impl UserDirectories<'_> {
    /// Returns the paths that `pattern` names: in the home directory, and in the directories that the user chose for a part of it.
    /// `variable` is the host's own variable, with the directory that it replaces.
    pub(crate) fn paths(self, pattern: &str, variable: Option<(&str, &str)>) -> Vec<PathBuf> {
        let in_home = pattern.strip_prefix("~/");
        let default = in_home.map_or_else(|| PathBuf::from(pattern), |path| self.home.join(path));
        let variables = VARIABLES.into_iter().chain(variable);
        let path = in_home.unwrap_or(pattern);
        variables.filter_map(|variable| self.chosen(path, variable)).chain([default]).collect()
    }

    /// Returns where `path` of the home directory is if the user sets a variable, given its name and the directory that it replaces.
    pub(crate) fn chosen(self, path: &str, (name, replaced): (&str, &str)) -> Option<PathBuf> {
        let rest = Path::new(path).strip_prefix(replaced).ok()?;
        let (_, directory) = self.vars.iter().find(|(variable, _)| variable == name)?;
        let path: PathBuf = Path::new(directory).components().chain(rest.components()).collect();
        path.is_absolute().then_some(path)
    }
}
