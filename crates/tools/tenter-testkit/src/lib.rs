//! Hermetic directories and terminal sessions for Tenter's own tests.
//!
//! A [`Sandbox`] is a directory with a project and a home; commands run in it with an environment of a few variables. The output
//! of a command is an [`Output`], in which everything that differs between runs is replaced, so that a test reads like a terminal
//! session. [`McpServer`] is an MCP server as a script, [`model_server`] is a scripted model server, [`http_server`] one for anything else, and [`tls`] a TLS proxy in front of
//! one. [`shell_text`] rewrites shell commands, and has bash say what they run.
//!
//! ```
//! use tenter_testkit::Sandbox;
//!
//! let sandbox = Sandbox::new("/bin/sh");
//! sandbox.write("notes.txt", "buy milk\n");
//! let output = sandbox.run(&["-c", "cat notes.txt"]);
//! assert_eq!((output.code, output.stdout.as_str()), (Some(0), "buy milk\n"));
//! ```

pub mod api_client;
mod choices;
mod directories;
pub mod fake_claude;
mod growing_limits;
pub mod http_server;
mod listener;
mod mcp_server;
pub mod model_server;
pub mod needs;
mod nested_cargo;
mod output;
pub mod own_process;
pub mod pty;
mod sandbox;
pub mod shell_text;
mod soak;
pub mod tls;

pub use choices::Choices;
pub use directories::{copy_directory, copy_directory_with};
pub use growing_limits::with_growing_limits;
pub use mcp_server::McpServer;
pub use nested_cargo::nested_cargo;
pub use output::{Output, assert_contains, assert_fields};
pub use pty::PtySession;
pub use sandbox::{Sandbox, wait_until};
pub use soak::{is_soak, soak_factor};
