//! `tenter mcp`: adds, removes, lists and tests MCP servers, and logs in with them.

mod add;
mod list;
mod login;
mod show;
mod test;

use std::path::Path;
use tenter_commands::Deferred;

use tenter_commands::project::Project;
use tenter_settings::ConfiguredServer;
use tenter_terminal::{CommandResult, Env, Failure, ui};

use crate::agent::mcp;

/// Add, remove, list, test and log in with MCP servers.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Add a server to your configuration: a program, or a URL.
    #[command(
        after_help = "Examples:\n  tenter mcp add time -- uvx mcp-server-time\n  tenter mcp add docs https://mcp.example.com/mcp"
    )]
    Add(Deferred<add::Args>),
    /// Remove a server from your configuration.
    Remove(Deferred<add::RemoveArgs>),
    /// Log in with a server behind HTTP, in the browser.
    Login(Deferred<login::Args>),
    /// Remove the login with a server.
    Logout(Deferred<login::LogoutArgs>),
    /// List the servers of this project, without starting them.
    List(Deferred<list::Args>),
    /// Show the settings of a server.
    Show(Deferred<show::Args>),
    /// Start a server and list its tools.
    Test(Deferred<test::Args>),
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    let project = Project::open(env, project)?;
    ui::diagnostics(project.findings());
    match command {
        Command::Add(args) => add::run(&project, args),
        Command::Remove(args) => add::remove(&project, args),
        Command::Login(args) => login::run(&project, args),
        Command::Logout(args) => login::log_out(&project, args),
        Command::List(args) => Ok(list::run(&project, args)),
        Command::Show(args) => show::run(&project, args),
        Command::Test(args) => test::run(&project, args),
    }
}

/// Lists the servers of a project.
pub(crate) fn list(project: &Project) {
    list::run(project, &list::Args::default());
}

/// Returns the server called `name`.
fn find<'p>(project: &'p Project<'_>, name: &str) -> Result<&'p ConfiguredServer, Failure> {
    mcp::find(project, name).ok_or_else(|| {
        Failure::usage(format!("there is no MCP server {name:?}"))
            .help("`tenter mcp list` lists them")
    })
}
