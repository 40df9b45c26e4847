//! Servers in a directory of their own, and calls of their tools.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenter_agent::tools::{
    OutputTail, ProtectedPaths, SourcedTools, ToolContext, ToolSource as _, Workspace,
    WorkspaceSettings, WriteConsent,
};
use tenter_engine::layout::ResourceLayout;
use tenter_mcp::{
    HttpServer, McpServers, ServerDefinition, ServerName, ServerProgram, ToolSelection, Transport,
};
use tenter_proc::{Cancel, Invocation};
use tenter_protocol::ToolResult;
use tenter_testkit::McpServer;
use tenter_testkit::needs::search_path;

/// Long enough for every machine; a test that waits this long has failed.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// A directory with servers.
pub(crate) struct Stage {
    directory: TempDir,
    workspace: Arc<Workspace>,
    definitions: Vec<ServerDefinition>,
}

struct NoConsent;

impl WriteConsent for NoConsent {
    fn agrees(&self, _: &std::path::Path, _: &std::path::Path) -> bool {
        false
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().to_owned();
        let layout = ResourceLayout::new(&project, &project, project.clone());
        let workspace = Workspace::new(WorkspaceSettings {
            project: project.clone(),
            cwd: project.clone(),
            add_dirs: Vec::new(),
            read_dirs: Vec::new(),
            protected_paths: ProtectedPaths::new(&project, &layout.names),
            env: Vec::new(),
            state_dir: project.join("state"),
            launcher: None,
            clock: || Timestamp::UNIX_EPOCH,
        });
        Self { directory, workspace: Arc::new(workspace.unwrap()), definitions: Vec::new() }
    }

    /// Returns the path of a file of the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Creates a file for which a server waits.
    pub(crate) fn create(&self, name: &str) {
        std::fs::write(self.path(name), "").unwrap();
    }

    /// Adds a server.
    pub(crate) fn server(self, name: &str, server: &McpServer) -> Self {
        self.changed_server(name, server, |_| ())
    }

    /// Adds a server whose definition is changed.
    pub(crate) fn changed_server(
        self,
        name: &str,
        server: &McpServer,
        change: impl FnOnce(&mut ServerDefinition),
    ) -> Self {
        let program = server.install(&self.path(name));
        self.changed_program(name, program, &[], change)
    }

    /// Adds a server that is this program.
    pub(crate) fn program(self, name: &str, program: PathBuf, args: &[&str]) -> Self {
        self.changed_program(name, program, args, |_| ())
    }

    fn changed_program(
        mut self,
        name: &str,
        program: PathBuf,
        args: &[&str],
        change: impl FnOnce(&mut ServerDefinition),
    ) -> Self {
        let invocation = Invocation {
            program,
            args: args.iter().map(Into::into).collect(),
            cwd: self.directory.path().to_owned(),
            env: vec![("PATH".into(), search_path())],
            ..Invocation::default()
        };
        let mut definition = ServerDefinition {
            name: ServerName::new(name).unwrap(),
            transport: Transport::Program(ServerProgram {
                invocation,
                confined_program: None,
                trampoline: None,
            }),
            startup_timeout: LONG,
            call_timeout: LONG,
            selection: ToolSelection::default(),
            roots: vec![self.directory.path().to_owned()],
            secrets: Vec::new(),
            check: None,
        };
        change(&mut definition);
        self.definitions.push(definition);
        self
    }

    /// Adds a server behind HTTP.
    pub(crate) fn http_server(mut self, name: &str, url: &str, headers: &[(&str, &str)]) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let (headers, proxy, authorities) = (headers.collect(), None, None);
        self.definitions.push(ServerDefinition {
            name: ServerName::new(name).unwrap(),
            transport: Transport::Http(HttpServer {
                url: url.to_owned(),
                headers,
                proxy,
                authorities,
                authorization: None,
            }),
            startup_timeout: LONG,
            call_timeout: LONG,
            selection: ToolSelection::default(),
            roots: vec![self.directory.path().to_owned()],
            secrets: Vec::new(),
            check: None,
        });
        self
    }

    pub(crate) fn servers(&self) -> McpServers {
        McpServers::new(self.definitions.clone())
    }

    /// Returns the messages that a server received.
    pub(crate) fn received(&self, name: &str) -> String {
        McpServer::received(&self.path(name))
    }

    /// Calls a tool with this input.
    pub(crate) fn call(&self, servers: &McpServers, tool: &str, input: Value) -> ToolResult {
        self.call_with(servers, tool, input, &Cancel::new())
    }

    pub(crate) fn call_with(
        &self,
        servers: &McpServers,
        tool: &str,
        input: Value,
        cancel: &Cancel,
    ) -> ToolResult {
        let sourced = tools(servers);
        let tool = sourced.tools.iter().find(|one| one.name() == tool).unwrap();
        let Value::Object(input) = input else { panic!("an input is an object") };
        let context = ToolContext {
            call_id: "1",
            workspace: &self.workspace,
            confinements: &[],
            cancel,
            consent: &NoConsent,
            subagents: None,
            output: &OutputTail::default(),
        };
        tool.run(&input, &context)
    }
}

/// Returns the tools of the servers now.
pub(crate) fn tools(servers: &McpServers) -> SourcedTools {
    servers.tools(&|_| true, &Cancel::new())
}

/// Returns the names of the tools that servers provide now.
pub(crate) fn names(servers: &McpServers) -> Vec<String> {
    tools(servers).tools.iter().map(|tool| tool.name().to_owned()).collect()
}

/// Returns the messages about servers.
pub(crate) fn messages(servers: &McpServers) -> Vec<String> {
    tools(servers).diagnostics.into_iter().map(|one| one.message).collect()
}

/// Returns a list of tools with these names.
pub(crate) fn tools_named(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect()
}
