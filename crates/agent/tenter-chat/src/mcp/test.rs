//! `tenter mcp test`.

use tenter_base::{one_line, sanitize};
use tenter_commands::project::Project;
use tenter_mcp::ServerReport;
use tenter_terminal::{CommandResult, Exit, Failure, NAME, signals, styled, ui};

use crate::agent::mcp;

/// Maximum number of characters shown of a description.
const LENGTH: usize = 100;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name, as `tenter mcp list` shows it.
    name: String,
}

pub(super) fn run(project: &Project, args: &Args) -> CommandResult {
    let server = super::find(project, &args.name)?;
    let cancel = signals::cancel()?;
    let report = mcp::report(project, server, &cancel)?;
    let ServerReport { tools, instructions, problems, is_available } = report;
    if !is_available {
        let why = problems.join("; ");
        return Err(Failure::new(format!(
            "the MCP server {} is not available: {why}",
            server.name
        ))
        .help(format!("`tenter mcp show {}` shows how it is started", server.name)));
    }
    for problem in &problems {
        ui::note(format!("warning: {}", one_line(problem, 500)));
    }
    let width = tools.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, description) in &tools {
        let name = styled(NAME, format!("{name:width$}"));
        ui::out(format!("{name}  {}", one_line(description, LENGTH)));
    }
    if tools.is_empty() {
        ui::note("It runs, and has no tools.");
    }
    if let Some(instructions) = instructions {
        ui::out(format!("\n{}", sanitize(&instructions)));
    }
    Ok(Exit::Done)
}
