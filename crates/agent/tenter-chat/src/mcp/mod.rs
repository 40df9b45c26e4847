//! `tenter mcp`: lists and tests MCP servers.

mod list;
mod show;
mod test;

use std::path::Path;

use tenter_commands::project::Project;
use tenter_settings::ConfiguredServer;
use tenter_terminal::env::Env;
use tenter_terminal::failure::{CommandResult, Failure};
use tenter_terminal::ui;

use crate::agent::mcp;

/// List and test MCP servers.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the servers of this project, without starting them.
    List(list::Args),
    /// Show the settings of a server.
    Show(show::Args),
    /// Start a server and list its tools.
    Test(test::Args),
}

/// Runs the command.
pub fn run(env: &Env, project: Option<&Path>, command: &Command) -> CommandResult {
    let project = Project::open(env, project)?;
    ui::diagnostics(project.findings());
    match command {
        Command::List(args) => Ok(list::run(&project, args)),
        Command::Show(args) => show::run(&project, args),
        Command::Test(args) => test::run(&project, args),
    }
}

/// The server called `name`.
fn find<'p>(project: &'p Project<'_>, name: &str) -> Result<&'p ConfiguredServer, Failure> {
    mcp::find(project, name).ok_or_else(|| {
        Failure::usage(format!("there is no MCP server {name:?}"))
            .help("`tenter mcp list` lists them")
    })
}
