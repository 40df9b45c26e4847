//! Parses a configuration file; its errors suggest keys and hold no secrets.

use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tenter_base::nearest;
use thiserror::Error;

use crate::journal::Redactor;

/// The reason why a configuration file cannot be used.
#[derive(Debug, Error)]
pub enum ConfigurationError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// It is not TOML, or has a key or value that is not valid.
    #[error("{} is not a valid configuration:\n{error}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, what is wrong with it and what is valid instead, without secrets.
        error: String,
    },
}

/// Parses the text that was read from the file at `path`. A missing file sets nothing.
///
/// # Errors
/// The file cannot be read, or `T` does not accept its content.
pub fn parse<T: DeserializeOwned + Default>(
    path: &Path,
    text: io::Result<String>,
) -> Result<T, ConfigurationError> {
    let path = path.to_owned();
    let text = match text {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(ConfigurationError::Unreadable { path, error }),
    };
    toml::from_str(&text).map_err(|error| {
        let error = with_suggestion(without_secrets(&error.to_string()));
        ConfigurationError::Invalid { path, error }
    })
}

/// Adds a suggestion for an unknown key before the list of all keys.
pub(super) fn with_suggestion(error: String) -> String {
    const UNKNOWN: &str = "unknown field `";
    let Some((_, rest)) = error.split_once(UNKNOWN) else { return error };
    let Some((key, keys)) = rest.split_once("`, expected ") else { return error };
    let Some(suggestion) = nearest(key, keys.split('`').skip(1).step_by(2)) else { return error };
    let from = format!("{UNKNOWN}{key}`, expected ");
    error.replacen(&from, &format!("{UNKNOWN}{key}`; did you mean `{suggestion}`? Expected "), 1)
}

/// Removes the source line from errors about keys: if the user pasted an API key there, it must not end up in a log.
pub(super) fn without_secrets(error: &str) -> String {
    let lines = error.lines().map(|line| match line.split_once('=') {
        Some((name, _)) if name.contains(" | ") && is_about_a_secret(name) => format!("{name}= …"),
        _ => line.to_owned(),
    });
    Redactor::default().text(&lines.collect::<Vec<_>>().join("\n"))
}

fn is_about_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "proxy"].iter().any(|word| name.contains(word))
}
