//! All servers of an agent, as a source of tools.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use tenter_agent::tools::{Instructions, SourcedTools, Tool, ToolSource};
use tenter_proc::Cancel;
use tenter_protocol::{Diagnostic, Severity};

use crate::definition::ServerDefinition;
use crate::names;
use crate::runtime::Runtime;
use crate::server::{Provided, Server};
use crate::tool::McpTool;

/// The servers of an agent. Dropping it ends them.
pub struct McpServers {
    /// In the order of their names.
    servers: Vec<Arc<Server>>,
    runtime: Arc<Runtime>,
}

/// The tools and the state of a server, for the user.
#[derive(Debug, Clone, Default)]
pub struct ServerReport {
    /// The names by which the model calls its tools, each with its description.
    pub tools: Vec<(String, String)>,
    /// The server's text about its tools.
    pub instructions: Option<String>,
    /// The problems with it.
    pub problems: Vec<String>,
    /// It provides tools.
    pub is_available: bool,
}

impl McpServers {
    /// Creates these servers; none is started.
    pub fn new(mut definitions: Vec<ServerDefinition>) -> Self {
        definitions.sort_by(|one, other| one.name.cmp(&other.name));
        let runtime = Arc::<Runtime>::default();
        let server = |definition| Server::new(definition, Arc::clone(&runtime));
        let servers = definitions.into_iter().map(server).collect();
        Self { servers, runtime }
    }

    /// Starts a server and reports what it provides; `None` if there is no server of this name.
    pub fn report(&self, name: &str, cancel: &Cancel) -> Option<ServerReport> {
        let server = self.servers.iter().find(|server| server.definition.name.as_str() == name)?;
        let Provided { listing, problem } = server.provided(cancel);
        let listing = listing.as_ref().map(|numbered| &numbered.listing);
        let warnings = listing.map(|listing| listing.warnings.clone()).unwrap_or_default();
        let tools = listing.iter().flat_map(|listing| &listing.tools);
        Some(ServerReport {
            tools: tools.map(|tool| (tool.name.clone(), tool.description.clone())).collect(),
            instructions: listing.and_then(|listing| listing.instructions.clone()),
            problems: problem.into_iter().chain(warnings).collect(),
            is_available: listing.is_some(),
        })
    }

    fn used(&self, is_used: &dyn Fn(&str) -> bool) -> impl Iterator<Item = &Arc<Server>> {
        self.servers.iter().filter(|server| is_used(&server.definition.name.prefix()))
    }
}

impl ToolSource for McpServers {
    fn start(&self, is_used: &dyn Fn(&str) -> bool) {
        self.used(is_used).for_each(Server::start_first);
    }

    fn tools(&self, is_used: &dyn Fn(&str) -> bool, cancel: &Cancel) -> SourcedTools {
        // All start before the first is awaited.
        self.start(is_used);
        let mut sourced = SourcedTools::default();
        let mut revision = DefaultHasher::new();
        for server in self.used(is_used) {
            let name = server.definition.name.as_str();
            let Provided { listing, problem } = server.provided(cancel);
            let warnings = listing.iter().flat_map(|numbered| numbered.listing.warnings.clone());
            let warnings = warnings.map(|warning| format!("the MCP server {name}: {warning}"));
            let problem = problem.map(|why| match listing {
                Some(_) => format!("the MCP server {name}: {why}"),
                None => format!("the MCP server {name} is not available: {why}"),
            });
            let messages = problem.into_iter().chain(warnings);
            sourced.diagnostics.extend(messages.map(|message| {
                let help = format!("`tenter mcp test {name}` starts it and shows its tools");
                Diagnostic::new("mcp-server", Severity::Warning, message).help(help)
            }));
            let Some(numbered) = listing else { continue };
            numbered.number.hash(&mut revision);
            let tools = numbered.listing.tools.iter().map(|tool| {
                let (server, tool) = (Arc::clone(server), tool.clone());
                Arc::new(McpTool { server, listed: tool }) as Arc<dyn Tool>
            });
            sourced.tools.extend(tools);
            sourced.instructions.extend(numbered.listing.instructions.as_ref().map(|text| {
                let (server, prefix) = (name.to_owned(), server.definition.name.prefix());
                Instructions { server, prefix, text: text.clone() }
            }));
        }
        sourced.revision = revision.finish();
        sourced
    }

    fn may_provide(&self, pattern: &str) -> bool {
        let beginning = pattern.strip_suffix('*').unwrap_or(pattern);
        beginning.starts_with(names::PREFIX)
            && self.servers.iter().any(|server| {
                let prefix = server.definition.name.prefix();
                let is_star = beginning.len() < pattern.len();
                beginning.starts_with(&prefix)
                    || format!("{beginning}__") == prefix
                    || (is_star && prefix.starts_with(beginning))
            })
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        let closing: Vec<_> = self.servers.iter().filter_map(|server| server.close()).collect();
        for connection in closing {
            connection.wait();
        }
        self.runtime.stop();
    }
}
