//! The managed settings, which administrators set for all users of a machine (M1): they take precedence over all other files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::file::{ConfigurationError, parse, with_suggestion, without_secrets};
use crate::hook_policy::FailMode;
use crate::managed::ManagedDirectory;

/// The table that only the managed file has.
const RULES: &str = "managed";

/// The settings in the managed `config.toml`.
#[derive(Debug, Clone, PartialEq)]
pub struct ManagedSettings {
    /// The file.
    pub path: PathBuf,
    /// The settings that a user's file can have, too.
    pub table: Table,
    /// The table `[managed]`.
    pub rules: ManagedRules,
}

impl ManagedSettings {
    /// Reads the managed settings of a machine; `None` if there are none.
    ///
    /// # Errors
    /// The file can be changed by others than root, cannot be read, or is not valid.
    pub fn read(managed: &ManagedDirectory) -> Result<Option<Self>, ConfigurationError> {
        let path = managed.config_file();
        let invalid = |error: String| ConfigurationError::Invalid { path: path.clone(), error };
        if !managed.verify(&path).map_err(|refusal| invalid(refusal.message))? {
            return Ok(None);
        }
        let text = fs::read_to_string(&path)
            .map_err(|error| ConfigurationError::Unreadable { path: path.clone(), error })?;
        let mut table: Table =
            text.parse().map_err(|error: toml::de::Error| invalid(error.to_string()))?;
        let rules = match table.remove(RULES) {
            Some(rules) => {
                rules.try_into().map_err(|error| invalid(format!("{RULES}: {error}")))?
            }
            None => ManagedRules::default(),
        };
        Ok(Some(Self { path, table, rules }))
    }

    /// Returns all settings, as the file has them.
    pub fn into_table(mut self) -> Table {
        let ManagedRules { only_hooks, fail, .. } = self.rules;
        let fail = if fail == FailMode::Closed { "closed" } else { "open" };
        let rules = Table::from_iter([
            ("only_hooks".to_owned(), only_hooks.into()),
            ("fail".to_owned(), fail.into()),
        ]);
        self.table.insert(RULES.to_owned(), rules.into());
        self.table
    }
}

/// The table `[managed]`, which only the managed `config.toml` has.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ManagedRules {
    /// True if no other hooks run.
    pub only_hooks: bool,
    /// The consequence if a managed hook fails.
    pub fail: FailMode,
    /// The bundles of the machine, which `tenter bundle` reads. An invalid one does not keep hooks from running.
    pub bundle: Vec<Table>,
}

/// Parses the text that was read from the user's file at `path`, below the managed settings: those take precedence, and lists have the
/// entries of both.
///
/// # Errors
/// The file cannot be read, or `T` does not accept its content or the managed file's.
pub fn parse_below<T: DeserializeOwned + Default>(
    managed: Option<&ManagedSettings>,
    path: &Path,
    text: io::Result<String>,
) -> Result<T, ConfigurationError> {
    let Some(managed) = managed else { return parse(path, text) };
    let copy = text.as_ref().cloned().unwrap_or_default();
    // First on its own: its errors have lines.
    parse::<T>(path, text)?;
    parse_managed::<T>(managed)?;
    let mut table: Table = copy.parse().unwrap_or_default();
    put_over(&mut table, &managed.table);
    table.try_into().map_err(|error: toml::de::Error| ConfigurationError::Invalid {
        path: managed.path.clone(),
        error: format!("together with {}: {error}", path.display()),
    })
}

/// Reads the managed settings alone.
pub(super) fn parse_managed<T: DeserializeOwned>(
    managed: &ManagedSettings,
) -> Result<T, ConfigurationError> {
    managed.table.clone().try_into().map_err(|error: toml::de::Error| {
        let error = with_suggestion(without_secrets(&error.to_string()));
        ConfigurationError::Invalid { path: managed.path.clone(), error }
    })
}

/// Tables whose lists belong together with other settings of the same entry, such as the arguments of a program: a managed list replaces
/// the user's.
const ENTRIES: [&str; 3] = ["mcp", "models", "providers"];

/// Puts the managed settings over the user's: they take precedence, and lists have the entries of both.
pub fn put_over(user: &mut Table, managed: &Table) {
    put_table_over(user, managed, true);
}

fn put_table_over(user: &mut Table, managed: &Table, joins_lists: bool) {
    for (key, value) in managed {
        let joins_lists = joins_lists && !ENTRIES.contains(&key.as_str());
        match (user.get_mut(key), value) {
            (Some(Value::Table(user)), Value::Table(managed)) => {
                put_table_over(user, managed, joins_lists);
            }
            // The last entry counts.
            (Some(Value::Array(user)), Value::Array(managed)) if joins_lists => {
                user.extend(managed.iter().cloned());
            }
            _ => {
                user.insert(key.clone(), value.clone());
            }
        }
    }
}
