//! The tables of MCP servers in configuration files.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The table `[mcp]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct McpTable {
    pub(super) servers: BTreeMap<String, ServerTable>,
}

/// One `[mcp.servers.NAME]`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerTable {
    pub(crate) command: Option<String>,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) pass_env: Vec<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) timeout_s: Option<NonZeroU64>,
    pub(crate) startup_timeout_s: Option<NonZeroU64>,
    pub(crate) enabled: Option<bool>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) exclude: Vec<String>,
}

/// A server as a configuration file describes it.
#[derive(Clone)]
pub(crate) struct ConfiguredServer {
    /// Its name, which may not be a valid one.
    pub(crate) name: String,
    /// Its settings.
    pub(crate) table: ServerTable,
    /// The file.
    pub(crate) file: PathBuf,
}

impl ConfiguredServer {
    /// Whether it is used at all.
    pub(crate) fn is_enabled(&self) -> bool {
        self.table.enabled.unwrap_or(true)
    }

    /// What is started, on one line.
    pub(crate) fn target(&self) -> String {
        let words = self.table.command.iter().chain(&self.table.args);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// Its settings, as names and values. Values of its environment are as they are in the file.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let table = &self.table;
        let mut facts = vec![("command", self.target())];
        facts.extend(table.env.iter().map(|(name, value)| ("env", format!("{name}={value}"))));
        let lists = [
            ("pass_env", Some(&table.pass_env)),
            ("tools", table.tools.as_ref()),
            ("exclude", Some(&table.exclude)),
        ];
        let cwd = table.cwd.iter().map(|cwd| ("cwd", cwd.display().to_string()));
        facts.extend(cwd);
        for (name, list) in lists {
            let list = list.filter(|list| !list.is_empty() || name == "tools");
            facts.extend(list.map(|list| (name, list.join(", "))));
        }
        let times =
            [("timeout_s", table.timeout_s), ("startup_timeout_s", table.startup_timeout_s)];
        facts.extend(times.iter().filter_map(|(name, time)| Some((*name, (*time)?.to_string()))));
        facts
    }
}

/// A word of a command line; in quotes if it would not be one word otherwise.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,${}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The servers of a file, in the order of their names.
pub(super) fn servers(table: McpTable, file: &Path) -> Vec<ConfiguredServer> {
    let server = |(name, table)| ConfiguredServer { name, table, file: file.to_owned() };
    table.servers.into_iter().map(server).collect()
}
