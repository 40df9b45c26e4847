//! Adds MCP servers to the user's file, and removes them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tenter_settings::keys::SettingKey;
use tenter_settings::table::settings;
use tenter_settings::{ServerTable, SettingsOwner};
use tenter_terminal::{Env, Failure};
use toml_edit::{Array, InlineTable, Value};

use super::document;
use super::file::ConfigFile;
use super::set::{not_edited, write};

/// The keys of a server begin with this.
const PREFIX: &str = "mcp.servers.NAME.";

/// Adds a server to the user's file, and returns the path of the file.
///
/// # Errors
/// The file cannot be read, written, or is not valid with the server.
pub fn add_server(env: &Env, name: &str, server: &ServerTable) -> Result<PathBuf, Failure> {
    let list = |words: &[String]| Value::Array(words.iter().map(String::as_str).collect::<Array>());
    let map = |map: &BTreeMap<String, String>| {
        Value::InlineTable(
            map.iter().map(|(name, value)| (name, value.as_str())).collect::<InlineTable>(),
        )
    };
    let text = |text: &String| Value::from(text.as_str());
    let values = [
        ("command", server.command.as_ref().map(text)),
        ("args", (!server.args.is_empty()).then(|| list(&server.args))),
        ("env", (!server.env.is_empty()).then(|| map(&server.env))),
        ("url", server.url.as_ref().map(text)),
        ("headers", (!server.headers.is_empty()).then(|| map(&server.headers))),
    ];
    change(env, |file, old| {
        let mut new = old.to_owned();
        for (leaf, value) in &values {
            if let Some(value) = value {
                let key = key(leaf, name)?;
                new = document::set(&new, &key, value.clone())
                    .map_err(|error| not_edited(file, error))?;
            }
        }
        Ok(new)
    })
}

/// Removes a server from the user's file, and returns the path of the file.
///
/// # Errors
/// The file cannot be read or written.
pub fn remove_server(env: &Env, name: &str) -> Result<PathBuf, Failure> {
    change(env, |file, old| {
        document::remove_table(old, &["mcp", "servers"], name)
            .map_err(|error| not_edited(file, error))
    })
}

fn change(
    env: &Env,
    change: impl Fn(&ConfigFile, &str) -> Result<String, Failure>,
) -> Result<PathBuf, Failure> {
    let file = ConfigFile::new(env, &env.cwd, SettingsOwner::User);
    let _lock = ConfigFile::lock(env)?;
    let old = file.read()?;
    write(&file, &old, &change(&file, &old)?)?;
    Ok(file.path)
}

fn key(leaf: &str, name: &str) -> Result<SettingKey, Failure> {
    let setting = settings().find(|setting| setting.key.strip_prefix(PREFIX) == Some(leaf));
    let setting =
        setting.ok_or_else(|| Failure::new(format!("there is no setting {PREFIX}{leaf}")))?;
    Ok(SettingKey::new(setting, Some(name.to_owned())))
}
