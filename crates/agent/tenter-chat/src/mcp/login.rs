//! `tenter mcp login` and `tenter mcp logout`.

use tenter_commands::project::Project;
use tenter_commands::user_only;
use tenter_mcp::RegisteredClient;
use tenter_terminal::{CommandResult, Exit, Failure, signals, ui};

use crate::agent::mcp;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name, as `tenter mcp list` shows it.
    name: String,
    /// The id of a client that you registered with the server, if it registers none itself.
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The scopes to ask for, separated by spaces; by default those that the server names.
    #[arg(long, value_name = "SCOPES")]
    scope: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct LogoutArgs {
    /// The name, as `tenter mcp list` shows it.
    name: String,
}

pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    user_only::check(project.env, project.root(), "mcp login")?;
    let server = super::find(project, &args.name)?;
    let name = &server.name;
    let cancel = signals::cancel()?;
    let client = RegisteredClient { id: args.client_id.clone(), scope: args.scope.clone() };
    let show = |address: &str| {
        ui::note(format!("Open this address in your browser to log in with {name}:"));
        ui::out(address);
    };
    let failure = |why: String| {
        Failure::new(format!("cannot log in with the MCP server {name}: {why}")).help(
            "a server without this kind of login takes a token in `headers`: `tenter help mcp`",
        )
    };
    let grant = mcp::grant_file(project, server).map_err(failure)?;
    if let Err(why) = grant.log_in(&client, &cancel, &show) {
        return if cancel.is_cancelled() { Ok(Exit::Interrupted) } else { Err(failure(why)) };
    }
    ui::note(format!("Logged in. To list its tools: tenter mcp test {name}"));
    Ok(Exit::Done)
}

pub(super) fn log_out(project: &Project, args: &LogoutArgs) -> CommandResult {
    user_only::check(project.env, project.root(), "mcp logout")?;
    let server = super::find(project, &args.name)?;
    let failure = |why: String| Failure::new(format!("cannot log out of {}: {why}", server.name));
    let is_removed = mcp::grant_file(project, server)
        .and_then(|grant| grant.remove().map_err(|error| error.to_string()))
        .map_err(failure)?;
    let name = &server.name;
    if is_removed {
        ui::note(format!("Logged out of {name}. The server may keep the login until it ends."));
    } else {
        ui::note(format!("You were not logged in with {name}."));
    }
    Ok(Exit::Done)
}
