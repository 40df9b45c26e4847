//! Where a host keeps what decides what it loads, runs and allows: data.

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
    /// Where they are: a relative path is that in every directory, `~` is the home directory.
    pub directories: &'static [&'static str],
    /// Their paths in each of these directories. A `*` at the beginning is any text.
    pub names: &'static [&'static str],
}

/// These files and directories in each of these directories.
pub(crate) const fn within(
    directories: &'static [&'static str],
    names: &'static [&'static str],
) -> SettingsPaths {
    SettingsPaths { directories, names }
}

impl SettingsPaths {
    /// The paths, as written: relative ones are protected in every directory.
    pub fn written(self) -> impl Iterator<Item = String> {
        self.directories.iter().flat_map(move |directory| {
            let separator = if directory.is_empty() || directory.ends_with('/') { "" } else { "/" };
            self.names.iter().map(move |name| format!("{directory}{separator}{name}"))
        })
    }
}

/// The variables by which users choose other directories, besides those of registrations, and what they replace in the home directory.
const VARIABLES: [(&str, &str); 10] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CACHE_HOME", ".cache"),
    ("CLINE_DIR", ".cline"),
    ("CLINE_DATA_DIR", ".cline/data"),
    ("CRUSH_GLOBAL_CONFIG", ".config/crush"),
    ("CURSOR_CONFIG_DIR", ".cursor"),
    ("KILO_CONFIG_DIR", ".kilo"),
    ("OPENCODE_CONFIG_DIR", ".opencode"),
    ("PI_CODING_AGENT_DIR", ".pi/agent"),
];

/// Where programs find the directories of a user.
#[derive(Debug, Clone, Copy)]
pub struct UserDirectories<'u> {
    /// The home directory.
    pub home: &'u Path,
    /// The environment.
    pub vars: &'u [(OsString, OsString)],
}

impl UserDirectories<'_> {
    /// The paths that `written` names: in the home directory, and where the user chose another directory for a part of it.
    /// `variable` is the host's own, with what it replaces.
    pub(crate) fn paths(self, written: &str, variable: Option<(&str, &str)>) -> Vec<PathBuf> {
        let in_home = written.strip_prefix("~/");
        let default = in_home.map_or_else(|| PathBuf::from(written), |path| self.home.join(path));
        let chosen = VARIABLES.into_iter().chain(variable).filter_map(|(name, replaced)| {
            let path = in_home.unwrap_or(written).strip_prefix(replaced)?;
            let (_, directory) = self.vars.iter().find(|(var, _)| var == name)?;
            let chosen = Path::new(directory).join(path.strip_prefix('/')?);
            chosen.is_absolute().then_some(chosen)
        });
        chosen.chain([default]).collect()
    }
}
