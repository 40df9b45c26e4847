//! The places of a host's rules, and the reading of their files.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use serde_json::Value;
use tenter_base::untrusted_file;
use tenter_engine::inspect::Environment;

use super::{UserRule, unreadable};

/// Maximum number of files of a directory that are read.
const MAX_FILES: usize = 200;

/// The places where a host looks for rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'p> {
    /// The user's home directory.
    pub(crate) home: &'p Path,
    /// `$XDG_CONFIG_HOME`.
    pub(crate) config_home: &'p Path,
    /// The root of the project.
    pub(crate) project: &'p Path,
    /// The working directory of the agent.
    pub(crate) cwd: &'p Path,
    /// The environment of the host.
    pub(crate) vars: &'p Environment,
}

impl Places<'_> {
    /// Returns the value of an environment variable.
    pub(super) fn var(&self, name: &str) -> Option<&str> {
        let (_, value) = self.vars.iter().find(|(key, _)| key == name)?;
        value.to_str().filter(|value| !value.is_empty())
    }

    /// Returns the directory that a variable names, or the one in the home directory.
    pub(super) fn directory(&self, variable: &str, in_home: &str) -> PathBuf {
        self.var(variable).map_or_else(|| self.home.join(in_home), PathBuf::from)
    }

    /// Returns the directories from the root of the project to the working directory.
    pub(super) fn project_directories(&self) -> Vec<PathBuf> {
        let below =
            self.cwd.ancestors().take_while(|directory| directory.starts_with(self.project));
        let mut directories: Vec<PathBuf> = below.map(Path::to_owned).collect();
        if directories.is_empty() {
            directories.extend([self.cwd.to_owned(), self.project.to_owned()]);
        }
        directories.reverse();
        directories
    }
}

/// Reads a file; `Ok(None)` if it does not exist.
pub(super) fn text(file: &Path) -> Result<Option<String>, UserRule> {
    match untrusted_file::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_missing(error.kind()) => Ok(None),
        Err(error) => Err(unreadable(file, &error.to_string())),
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Reads a file of JSON, also with comments and trailing commas; `Ok(None)` if it does not exist.
pub(super) fn json(file: &Path) -> Result<Option<Value>, UserRule> {
    let Some(text) = text(file)? else { return Ok(None) };
    parse(&text).map(Some).map_err(|why| unreadable(file, &why))
}

/// Reads JSON with comments and trailing commas.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value = jsonc_parser::parse_to_serde_value::<Option<Value>>(text, &ParseOptions::default());
    value.map(Option::unwrap_or_default).map_err(|error| error.to_string())
}

/// Reads a TOML file; `Ok(None)` if it does not exist.
pub(super) fn toml(file: &Path) -> Result<Option<toml::Table>, UserRule> {
    let Some(text) = text(file)? else { return Ok(None) };
    text.parse().map(Some).map_err(|error: toml::de::Error| unreadable(file, error.message()))
}

/// Lists the files of a directory with this ending, sorted by name. An error is a rule that stands for the files that cannot be listed.
pub(super) fn files(directory: &Path, ending: &str) -> Result<Vec<PathBuf>, UserRule> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_missing(error.kind()) => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(directory, &error.to_string())),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let is_meant = |path: &PathBuf| path.extension().is_some_and(|extension| extension == ending);
    let mut files: Vec<PathBuf> = paths.filter(is_meant).take(MAX_FILES + 1).collect();
    if files.len() > MAX_FILES {
        return Err(unreadable(directory, &format!("it has more than {MAX_FILES} files")));
    }
    files.sort();
    Ok(files)
}

/// Returns the texts of a list; a single text counts as a list.
pub(super) fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
