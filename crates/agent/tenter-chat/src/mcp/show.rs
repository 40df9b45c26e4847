//! `tenter mcp show`.

use tenter_base::one_line;
use tenter_commands::project::Project;
use tenter_terminal::{CommandResult, Exit, NAME, styled, ui};

use crate::agent::mcp;

/// Maximum number of characters of a line.
const LENGTH: usize = 1024;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name, as `tenter mcp list` shows it.
    name: String,
}

pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    let server = super::find(project, &args.name)?;
    let state = mcp::state(project, server).to_owned();
    let origin = server.file.display().to_string();
    let head = [
        ("name", server.name.clone()),
        ("state", state),
        ("origin", origin),
        ("target", server.target()),
    ];
    let covered = mcp::covered(project, server).map(|covered| ("trust covers", covered));
    let facts = head.into_iter().chain(server.facts()).chain(covered);
    for (what, text) in facts {
        ui::out(format!("{}  {}", styled(NAME, format!("{what:17}")), one_line(&text, LENGTH)));
    }
    Ok(Exit::Done)
}
