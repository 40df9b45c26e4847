//! `tenter inspect`: pages in a browser that show what hooks did, live.

mod browser;
mod facts;

use std::io::ErrorKind;
use std::path::Path;

use tenter_inspect::{Pages, Server};
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, numbers, signals, ui};

use crate::OwnAgent;
use crate::project::Project;
use facts::ProjectFacts;

/// Show in a browser what hooks did, live.
///
/// Serves pages on this machine until Ctrl-C: the sessions of Tenter and of other agents, each as a timeline of calls and hooks, and the
/// figures of hooks. They are read-only. The address contains a token; without it, other users of the machine and other web sites
/// get nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Serve on this port instead of a free one.
    #[arg(long, value_name = "PORT", value_parser = numbers::port, default_value = "0", hide_default_value = true)]
    port: u16,
    /// Print the address, and do not open a browser.
    #[arg(long)]
    no_open: bool,
}

/// Runs the command.
pub fn run(
    env: &Env,
    project: Option<&Path>,
    args: &Args,
    agent: &'static dyn OwnAgent,
) -> CommandResult {
    let project = Project::open(env, project)?;
    let facts = Box::new(ProjectFacts::new(env, project.root(), agent));
    let pages = Pages::new(env.journals(), project.root(), facts, now);
    let server = Server::bind(args.port, pages).map_err(|error| cannot_serve(args.port, &error))?;
    let cancel = signals::cancel()?;
    let address = server.address();
    ui::out(&address);
    ui::note("Serving until Ctrl-C. The address contains the key to the pages: do not share it.");
    // Removed when the command ends: the browser has read it by then.
    let _page = if args.no_open { None } else { browser::open(&project, &address) };
    server
        .serve(&cancel)
        .map_err(|error| Failure::new(format!("cannot continue to serve: {error}")))?;
    Ok(Exit::Done)
}

fn cannot_serve(port: u16, error: &std::io::Error) -> Failure {
    if error.kind() == ErrorKind::AddrInUse {
        let message = format!("cannot serve on port {port}: another program uses it");
        return Failure::new(message).help("leave out --port to use a free one");
    }
    Failure::new(format!("cannot serve on port {port}: {error}"))
}
