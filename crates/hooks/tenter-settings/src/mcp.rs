//! The tables of MCP servers in configuration files, and the servers of all files together.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenter_protocol::{Diagnostic, Severity};

/// The table `[mcp]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct McpTable {
    pub(super) servers: BTreeMap<String, ServerTable>,
}

/// One `[mcp.servers.NAME]`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerTable {
    /// The program.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it gets.
    pub env: BTreeMap<String, String>,
    /// Names of variables that it gets although they look like a key.
    pub pass_env: Vec<String>,
    /// Its working directory.
    pub cwd: Option<String>,
    /// The profile that its program is confined with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confine: Option<String>,
    /// The URL of a server behind HTTP.
    pub url: Option<String>,
    /// Headers of requests to it.
    pub headers: BTreeMap<String, String>,
    /// Timeout of one call, in seconds.
    pub timeout_s: Option<NonZeroU64>,
    /// Maximum time that the first request waits for it, in seconds.
    pub startup_timeout_s: Option<NonZeroU64>,
    /// True if it is used.
    #[serde(skip_serializing)]
    pub enabled: Option<bool>,
    /// The tools that are offered; all without it.
    pub tools: Option<Vec<String>>,
    /// The tools that are not offered.
    pub exclude: Vec<String>,
}

/// A server as a configuration file describes it.
#[derive(Clone)]
pub struct ConfiguredServer {
    /// Its name, which may not be a valid one.
    pub name: String,
    /// Its settings.
    pub table: ServerTable,
    /// The file.
    pub file: PathBuf,
    /// True if the file belongs to the project.
    pub is_project: bool,
}

impl ConfiguredServer {
    /// Checks whether it is used at all.
    pub fn is_enabled(&self) -> bool {
        self.table.enabled.unwrap_or(true)
    }

    /// Returns the command line or the URL, on one line.
    pub fn target(&self) -> String {
        let words = self.table.command.iter().chain(&self.table.args);
        let words = words.map(|word| quote(word)).chain(self.table.url.clone());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns its other settings, as names and values. Values are as they are in the file.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let table = &self.table;
        let mut facts = Vec::new();
        facts.extend(table.env.iter().map(|(name, value)| ("env", format!("{name}={value}"))));
        facts.extend(
            table.headers.iter().map(|(name, value)| ("headers", format!("{name}: {value}"))),
        );
        facts.extend(table.cwd.iter().map(|cwd| ("cwd", cwd.clone())));
        facts.extend(table.confine.iter().map(|profile| ("confine", profile.clone())));
        let lists = [
            ("pass_env", Some(&table.pass_env)),
            ("tools", table.tools.as_ref()),
            ("exclude", Some(&table.exclude)),
        ];
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

/// Returns a word of a command line; in quotes if it would not be one word otherwise.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,${}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Combines the servers of the user's file, of the project's, and of the project's `.mcp.json`. Of several with the same name the
/// first is used, and the others are reported: a project replaces no server of the user.
pub(super) fn servers(
    user: (McpTable, &Path),
    project: [(McpTable, &Path); 2],
    findings: &mut Vec<Diagnostic>,
) -> Vec<ConfiguredServer> {
    let servers_in = |(table, file): (McpTable, &Path), is_project| {
        let file = file.to_owned();
        let server =
            move |(name, table)| ConfiguredServer { name, table, file: file.clone(), is_project };
        table.servers.into_iter().map(server)
    };
    let project_servers = project.into_iter().flat_map(|file| servers_in(file, true));
    let all = servers_in(user, false).chain(project_servers);
    let mut servers: Vec<ConfiguredServer> = Vec::new();
    for server in all {
        match servers.iter().find(|one| one.name == server.name) {
            Some(other) => findings.push(shadowed(&server, other)),
            None => servers.push(server),
        }
    }
    servers
}

fn shadowed(server: &ConfiguredServer, other: &ConfiguredServer) -> Diagnostic {
    let message = format!(
        "the MCP server {} is not used: {} has one of the same name",
        server.name,
        other.file.display()
    );
    Diagnostic::new("mcp-server", Severity::Warning, message)
        .at(&server.file)
        .help("rename one of them")
}
