//! The MCP servers of a session: which the configuration describes, and how they are started.

mod covered;
mod definition;
mod expansion;
mod grants;
mod outside;
mod place;
mod programs;
mod reach;
mod trust;

use std::sync::Arc;
use std::time::Duration;

use tenter_agent::tools::ToolSource;
use tenter_commands::project::Project;
use tenter_engine::TrustMode;
use tenter_mcp::{McpServers, ServerReport};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};
use tenter_settings::ConfiguredServer;
use tenter_terminal::{Exit, Failure};

pub(crate) use definition::grant_file;
pub(crate) use trust::{PendingServer, ask, ask_through, covered, pending, refusal, settle, trust};

/// The timeout of a tested server's start.
const TEST_TIMEOUT: Duration = Duration::from_mins(2);

/// Returns the servers for a session; `None` if there are none. A server that cannot be used is reported, and does not affect the
/// others.
pub(crate) fn source(project: &Project) -> (Option<Arc<dyn ToolSource>>, Vec<Diagnostic>) {
    let mut findings = Vec::new();
    let mut definitions = Vec::new();
    let is_used = |server: &&ConfiguredServer| {
        server.is_enabled() && (!needs_trust(project, server) || is_trusted(project, server))
    };
    for server in all(project).filter(is_used) {
        match definition::define(project, server) {
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

/// Returns all servers, also those that are not used.
pub(crate) fn all<'p>(project: &'p Project<'_>) -> impl Iterator<Item = &'p ConfiguredServer> {
    project.settings.mcp.iter()
}

/// Returns the server called `name`.
pub(crate) fn find<'p>(project: &'p Project<'_>, name: &str) -> Option<&'p ConfiguredServer> {
    all(project).find(|server| server.name == name)
}

/// Returns whether a session uses the server, in a word.
pub(crate) fn state(project: &Project, server: &ConfiguredServer) -> &'static str {
    match definition::define(project, server) {
        _ if !server.is_enabled() => "disabled",
        _ if needs_trust(project, server) && !is_trusted(project, server) => "untrusted",
        Ok(definition) if !definition.has_program() => "program not found",
        Ok(_) => READY,
        Err(_) => "unusable",
    }
}

/// Checks whether the user has to trust the server before it is used.
fn needs_trust(project: &Project, server: &ConfiguredServer) -> bool {
    server.is_project && project.settings.hooks.trust != TrustMode::All
}

/// Checks whether the server is the user's own, or one of the project that the user trusts as it is now.
fn is_trusted(project: &Project, server: &ConfiguredServer) -> bool {
    let record = || trust::trust_record(project, server);
    !server.is_project || record().is_ok_and(|it| it.is_in(&project.trust, project.root()))
}

/// Starts a server, also a disabled one, and reports what it provides.
///
/// # Errors
/// It cannot be used, or is not trusted.
pub(crate) fn report(
    project: &Project,
    server: &ConfiguredServer,
    cancel: &Cancel,
) -> Result<ServerReport, Failure> {
    if needs_trust(project, server) && !is_trusted(project, server) {
        let message =
            format!("the MCP server {} comes with the project and is not trusted", server.name);
        return Err(Failure { exit: Exit::Untrusted, ..Failure::new(message) }
            .help("review it with `tenter mcp show`, then run `tenter trust`"));
    }
    let mut definition = definition::define(project, server).map_err(|why| {
        Failure::new(format!("the MCP server {} cannot be used: {why}", server.name))
            .help("`tenter help mcp` describes the settings of servers")
    })?;
    definition.startup_timeout = TEST_TIMEOUT;
    let servers = McpServers::new(vec![definition]);
    Ok(servers.report(&server.name, cancel).unwrap_or_default())
}

fn unusable(server: &ConfiguredServer, why: &str) -> Diagnostic {
    let message = format!("the MCP server {} is not used: {why}", server.name);
    Diagnostic::new("mcp-server", Severity::Warning, message)
        .at(&server.file)
        .help("`tenter help mcp` describes the settings of servers")
}
