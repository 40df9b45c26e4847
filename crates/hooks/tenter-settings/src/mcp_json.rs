//! The servers in a project's `.mcp.json`, which several agents read.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use tenter_base::untrusted_file;
use tenter_protocol::{Diagnostic, Severity};

use super::mcp::{McpTable, ServerTable};

/// The file, as far as it is read. Other agents may have further keys in it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct McpJson {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, JsonServer>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonServer {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
    disabled: bool,
}

/// Returns the servers in the file at `path`; none if there is no such file.
pub(super) fn read(path: &Path, findings: &mut Vec<Diagnostic>) -> McpTable {
    let mut report = |why: String| {
        let finding = Diagnostic::new("mcp-json", Severity::Warning, why);
        findings.push(finding.at(path).help("`tenter help mcp` describes what is read of it"));
    };
    let text = match untrusted_file::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return McpTable::default(),
        Err(error) => {
            report(format!("the servers of .mcp.json are not used: it cannot be read: {error}"));
            return McpTable::default();
        }
    };
    let servers = match serde_json::from_str::<McpJson>(&text) {
        Ok(file) => file.servers,
        Err(error) => {
            report(format!("the servers of .mcp.json are not used: {error}"));
            return McpTable::default();
        }
    };
    let mut table = McpTable::default();
    for (name, server) in servers {
        if server.kind.as_deref() == Some("sse") {
            report(format!(
                "the MCP server {name} is not used: the transport `sse` is outdated; use `http`"
            ));
            continue;
        }
        table.servers.insert(name, server_table(server));
    }
    table
}

fn server_table(server: JsonServer) -> ServerTable {
    let JsonServer { kind: _, command, args, env, url, headers, disabled } = server;
    let enable = disabled.then_some(false);
    ServerTable { command, args, env, url, headers, enabled: enable, ..ServerTable::default() }
}
