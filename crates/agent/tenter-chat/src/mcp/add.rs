//! `tenter mcp add` and `tenter mcp remove`.

use std::collections::BTreeMap;

use tenter_base::visible;
use tenter_commands::project::Project;
use tenter_commands::{config, user_only};
use tenter_mcp::ServerName;
use tenter_settings::ServerTable;
use tenter_terminal::{CommandResult, Exit, Failure, ui};

use super::find;
use crate::agent::mcp;
use crate::agent::recipes::argument;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name; its tools are called mcp__NAME__TOOL.
    name: String,
    /// Set a variable of the server; repeatable. ${VARIABLE} is replaced when it starts.
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument)]
    env: Vec<(String, String)>,
    /// Send a header to a server behind HTTP; repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = argument)]
    header: Vec<(String, String)>,
    /// The URL of the server, or its program and arguments; put -- before them.
    #[arg(required = true, value_name = "URL|PROGRAM")]
    target: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct RemoveArgs {
    /// The name, as `tenter mcp list` shows it.
    name: String,
}

pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    user_only::check(project.env, project.root(), "mcp add")?;
    ServerName::new(&args.name).map_err(Failure::usage)?;
    if let Some(server) = mcp::find(project, &args.name) {
        return Err(Failure::usage(format!(
            "there is an MCP server {:?} already, in {}",
            args.name,
            server.file.display()
        ))
        .help(format!("choose another name, or remove it: tenter mcp remove {}", args.name)));
    }
    let path = config::add_server(project.env, &args.name, &table(args)?)?;
    let (name, path) = (&args.name, visible(&path.to_string_lossy()).into_owned());
    ui::note(format!("Added {name} to {path}."));
    ui::note(format!("To start it and list its tools: tenter mcp test {name}"));
    Ok(Exit::Done)
}

pub(super) fn remove(project: &Project, args: &RemoveArgs) -> CommandResult {
    user_only::check(project.env, project.root(), "mcp remove")?;
    let server = find(project, &args.name)?;
    if server.is_project {
        return Err(Failure::usage(format!(
            "the MCP server {} comes from {}",
            server.name,
            server.file.display()
        ))
        .help("remove it there; `tenter trust` decides whether it is used"));
    }
    let path = config::remove_server(project.env, &args.name)?;
    ui::note(format!("Removed {} from {}.", args.name, visible(&path.to_string_lossy())));
    Ok(Exit::Done)
}

/// Returns the settings of the server.
fn table(args: &Args) -> Result<ServerTable, Failure> {
    let map = |pairs: &[(String, String)]| pairs.iter().cloned().collect::<BTreeMap<_, _>>();
    let (first, rest) =
        args.target.split_first().ok_or_else(|| Failure::usage("name a URL or a program"))?;
    let is_url = first.starts_with("https://") || first.starts_with("http://");
    let options = if is_url {
        (!args.env.is_empty()).then_some("--env")
    } else {
        (!args.header.is_empty()).then_some("--header")
    };
    if let Some(flag) = options {
        let kind = if is_url { "program, and this is a URL" } else { "URL, and this is a program" };
        return Err(Failure::usage(format!("{flag} is for a {kind}")));
    }
    if is_url && !rest.is_empty() {
        return Err(Failure::usage("a URL has no arguments"));
    }
    let mut table =
        ServerTable { env: map(&args.env), headers: map(&args.header), ..ServerTable::default() };
    if is_url {
        table.url = Some(first.clone());
    } else {
        table.command = Some(first.clone());
        table.args = rest.to_vec();
    }
    Ok(table)
}
