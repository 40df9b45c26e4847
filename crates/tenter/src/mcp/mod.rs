//! The MCP servers of a session: which the configuration describes, and how they are started.

mod definition;
mod expansion;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tenter_agent::tools::ToolSource;
use tenter_mcp::{McpServers, ServerReport};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};

use crate::failure::Failure;
use crate::project::Project;
use crate::settings::ConfiguredServer;

/// How long a server that is tested may take to start.
const TEST_TIMEOUT: Duration = Duration::from_mins(2);

/// The servers for a session; `None` if there are none. A server that cannot be used is reported, and does not affect the others.
pub(crate) fn source(project: &Project) -> (Option<Arc<dyn ToolSource>>, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let mut definitions = Vec::new();
    for server in enabled(project).into_values() {
        match definition::of(project, server) {
            Ok(definition) => definitions.push(definition),
            Err(why) => findings.push(unusable(server, &why)),
        }
    }
    if definitions.is_empty() {
        return (None, findings);
    }
    (Some(Arc::new(McpServers::new(definitions))), findings)
}

/// The state of a server that a session uses.
pub(crate) const READY: &str = "ready";

/// All servers, also those that are not used.
pub(crate) fn all<'p>(project: &'p Project<'_>) -> impl Iterator<Item = &'p ConfiguredServer> {
    project.settings.mcp.iter()
}

/// The server called `name`.
pub(crate) fn find<'p>(project: &'p Project<'_>, name: &str) -> Option<&'p ConfiguredServer> {
    all(project).find(|server| server.name == name)
}

/// Whether a session uses the server, in a word.
pub(crate) fn state(project: &Project, server: &ConfiguredServer) -> &'static str {
    match definition::of(project, server) {
        _ if !server.is_enabled() => "disabled",
        Ok(_) => READY,
        Err(_) => "unusable",
    }
}

/// Starts a server, also a disabled one, and reports what it provides.
pub(crate) fn report(
    project: &Project,
    server: &ConfiguredServer,
    cancel: &Cancel,
) -> Result<ServerReport, Failure> {
    let mut definition = definition::of(project, server).map_err(|why| {
        Failure::new(format!("the MCP server {} cannot be used: {why}", server.name))
            .help("`tenter help mcp` describes the settings of servers")
    })?;
    definition.startup_timeout = TEST_TIMEOUT;
    let servers = McpServers::new(vec![definition]);
    Ok(servers.report(&server.name, cancel).unwrap_or_default())
}

/// The servers that are used, by name.
fn enabled<'p>(project: &'p Project<'_>) -> BTreeMap<&'p str, &'p ConfiguredServer> {
    let servers = project.settings.mcp.iter().filter(|server| server.is_enabled());
    servers.map(|server| (server.name.as_str(), server)).collect()
}

fn unusable(server: &ConfiguredServer, why: &str) -> Diagnostic {
    let message = format!("the MCP server {} is not used: {why}", server.name);
    Diagnostic::new("mcp-server", Severity::Warning, message)
        .at(&server.file)
        .help("`tenter help mcp` describes the settings of servers")
}
