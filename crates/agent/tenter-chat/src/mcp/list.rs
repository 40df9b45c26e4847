//! `tenter mcp list`.

use anstyle::Style;
use serde::Serialize;
use tenter_base::one_line;
use tenter_commands::project::Project;
use tenter_settings::ConfiguredServer;
use tenter_terminal::text::{Cell, align};
use tenter_terminal::{Exit, FAINT, NAME, NOTICE, ui};

use crate::agent::mcp;

/// Maximum number of characters shown of a name or a command line.
const LENGTH: usize = 100;

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Print a JSON array: name, state, origin, target.
    #[arg(long)]
    json: bool,
}

/// A server in the JSON output.
#[derive(Serialize)]
struct ServerJson<'s> {
    name: &'s str,
    state: &'static str,
    origin: String,
    target: String,
}

pub(super) fn run(project: &Project, args: &Args) -> Exit {
    let servers: Vec<ServerJson> = mcp::all(project).map(|server| json(project, server)).collect();
    if args.json {
        ui::json(&servers);
        return Exit::Done;
    }
    let row = |server: &ServerJson| {
        let style = if server.state == mcp::READY { Style::new() } else { NOTICE };
        vec![
            (NAME, one_line(server.name, LENGTH)),
            (style, server.state.to_owned()),
            (Style::new(), one_line(&server.target, LENGTH)),
            (FAINT, one_line(&server.origin, LENGTH)),
        ]
    };
    let rows: Vec<Vec<Cell>> = servers.iter().map(row).collect();
    align(&rows, 2).iter().for_each(ui::out);
    if servers.is_empty() {
        ui::note("There are no MCP servers. `tenter help mcp` says how to add one.");
    }
    Exit::Done
}

fn json<'s>(project: &Project, server: &'s ConfiguredServer) -> ServerJson<'s> {
    ServerJson {
        name: &server.name,
        state: mcp::state(project, server),
        origin: server.file.display().to_string(),
        target: server.target(),
    }
}
