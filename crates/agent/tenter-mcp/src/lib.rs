//! Tools of MCP servers (Model Context Protocol) for the agent.
//!
//! ```text
//! McpServers ── ToolSource ──► Session: names, descriptions and schemas before each model request
//!     │
//!     ├─ Server ── connection ──► process (stdio)
//!     └─ Server ── connection ──► HTTP
//! ```
//!
//! A program of a server runs under [`tenter_proc`]: in its own process group, with bounded lines, and it dies with this process.
//! The protocol comes from the official SDK, whose tasks run on one thread, which is started with the first server. Nothing is
//! started before [`ToolSource::start`](tenter_agent::tools::ToolSource::start).
//!
//! Everything that servers write is untrusted: names, descriptions, schemas, results and messages are limited and sanitised. The
//! crate reads neither environment nor files: programs with their environment are passed in.
//!
//! ```
//! use std::time::Duration;
//!
//! use tenter_agent::tools::ToolSource as _;
//! use tenter_mcp::{McpServers, ServerDefinition, ServerName, ServerProgram, ToolSelection, Transport};
//! use tenter_proc::{Cancel, Invocation, Limits, Streams};
//!
//! let invocation = Invocation {
//!     program: "/bin/sh".into(),
//!     args: vec!["-c".into(), "echo 'no server' >&2; exit 3".into()],
//!     cwd: "/".into(),
//!     env: Vec::new(),
//!     stdin: Vec::new(),
//!     streams: Streams::Separate,
//!     limits: Limits::default(),
//! };
//! let servers = McpServers::new(vec![ServerDefinition {
//!     name: ServerName::new("example")?,
//!     transport: Transport::Program(ServerProgram { invocation, confined_program: None, trampoline: None }),
//!     startup_timeout: Duration::from_secs(10),
//!     call_timeout: Duration::from_secs(60),
//!     selection: ToolSelection::default(),
//!     roots: Vec::new(),
//!     secrets: Vec::new(),
//!     check: None,
//! }]);
//! let sourced = servers.tools(&|_| true, &Cancel::new());
//! assert!(sourced.tools.is_empty());
//! let problem = &sourced.diagnostics[0].message;
//! assert!(problem.contains("the MCP server example is not available"), "{problem}");
//! assert!(problem.contains("no server"), "{problem}");
//! # Ok::<(), String>(())
//! ```

mod calls;
mod connection;
mod definition;
mod errors;
mod http;
mod listing;
mod names;
mod oauth;
mod result;
mod roots;
mod runtime;
mod schema;
mod server;
mod servers;
mod stdio;
mod tool;

pub use definition::{
    Authorization, HttpServer, ServerDefinition, ServerName, ServerProgram, StartCheck,
    ToolSelection, Transport,
};
pub use oauth::{Grant, Network, RegisteredClient, login};
pub use servers::{McpServers, ServerReport};
