//! The user's directories, from which everything outside the project is found.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use tenter_base::account;

use crate::hook_values::HookValues;
use crate::managed::ManagedDirectory;

/// The user's directories. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directories {
    /// The home directory.
    pub home: PathBuf,
    /// The directory that holds the configuration of all programs: `$XDG_CONFIG_HOME`, by default `~/.config`.
    pub config_home: PathBuf,
    /// Holds what was trusted and the private directories of hooks.
    pub state: PathBuf,
    /// Holds the replies of hooks that were queried for their events. Without it, every hook is queried at every start.
    pub cache: Option<PathBuf>,
    /// The settings that administrators make for all users of the machine.
    #[doc(hidden)]
    pub managed: ManagedDirectory,
}

impl Directories {
    /// Returns the directories that these environment variables name, shared with the program `tenter`: what the user trusts
    /// there is trusted here. `HOME` and the variables of the XDG base directories count; relative values are ignored.
    /// Without `HOME`, the home directory in the account database counts.
    ///
    /// ```
    /// use tenter_engine::Directories;
    ///
    /// let directories = Directories::from_vars(&[("HOME".into(), "/home/ada".into())]);
    /// assert_eq!(directories.config_home.to_str(), Some("/home/ada/.config"));
    /// ```
    pub fn from_vars(vars: &[(OsString, OsString)]) -> Self {
        let find = |name: &str| {
            let value = vars.iter().find(|(key, _)| key == name).map(|(_, value)| value);
            value.filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        // A relative one would be in the project.
        let home = find("HOME").filter(|home| home.is_absolute()).or_else(account::home);
        let home = home.unwrap_or_else(|| PathBuf::from("/"));
        let xdg = |name: &str, fallback: &str| {
            let absolute = find(name).filter(|path| path.is_absolute());
            absolute.unwrap_or_else(|| home.join(fallback))
        };
        Self {
            config_home: xdg("XDG_CONFIG_HOME", ".config"),
            state: xdg("XDG_STATE_HOME", ".local/state").join("tenter"),
            cache: Some(xdg("XDG_CACHE_HOME", ".cache").join("tenter")),
            managed: ManagedDirectory::from_vars(vars),
            home,
        }
    }

    /// Returns the default directories in this home directory, without a cache.
    pub fn in_home(home: impl Into<PathBuf>) -> Self {
        let home = home.into();
        let (config_home, state) = (home.join(".config"), home.join(".local/state/tenter"));
        let managed = ManagedDirectory::default();
        Self { home, config_home, state, cache: None, managed }
    }

    /// Returns the same directories with the state in `directory`.
    #[must_use]
    pub fn with_state(self, directory: impl Into<PathBuf>) -> Self {
        Self { state: directory.into(), ..self }
    }

    /// Returns the same directories, with the managed one of a process with these variables: another one only in a test build.
    #[doc(hidden)]
    #[must_use]
    pub fn with_managed_from(self, vars: &[(OsString, OsString)]) -> Self {
        Self { managed: ManagedDirectory::from_vars(vars), ..self }
    }

    /// Returns the same directories with a cache in `directory`.
    #[must_use]
    pub fn with_cache(self, directory: impl Into<PathBuf>) -> Self {
        Self { cache: Some(directory.into()), ..self }
    }

    /// Removes what hooks keep for a conversation, which was deleted (S7).
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn forget_conversation(&self, id: &str) -> io::Result<()> {
        self.hook_values().forget(id)
    }

    /// Returns the store of the values that hooks keep.
    pub(crate) fn hook_values(&self) -> HookValues {
        HookValues::new(self.state.join("hook-values"))
    }

    /// Returns the file that records what was trusted.
    pub fn trust_file(&self) -> PathBuf {
        self.state.join("trust.json")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn from(vars: &[(&str, &str)]) -> Directories {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into()));
        Directories::from_vars(&vars.collect::<Vec<_>>())
    }

    #[test]
    fn variables_name_the_directories() {
        let directories = from(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "")]);
        assert_eq!(directories.config_home, Path::new("/h/.config"));
        assert_eq!(directories.trust_file(), Path::new("/s/tenter/trust.json"));
        assert_eq!(directories.cache.unwrap(), Path::new("/h/.cache/tenter"));
    }

    #[test]
    fn without_a_home_directory_that_of_the_account_counts() {
        let account = account::home().unwrap_or_else(|| PathBuf::from("/"));
        for vars in [&[][..], &[("HOME", "")], &[("HOME", "here")]] {
            assert_eq!(from(vars).home, account, "{vars:?}");
        }
    }

    #[test]
    fn relative_values_are_ignored() {
        let directories = from(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "config")]);
        assert_eq!(directories.config_home, Path::new("/h/.config"));
    }
}
