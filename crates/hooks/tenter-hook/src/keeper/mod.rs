//! The keeper: one process per user, project and build that keeps runtime hooks between the events of hosts (S14, S15).
//!
//! ```text
//! tenter-hook (one per event) ── client ──► socket ──► server ──► peer ──► ServingProcess ──► hook
//! ```
//!
//! `client` connects `tenter-hook` to the keeper, and starts the keeper. `server` accepts connections and ends the keeper, and has the
//! engine's pool of processes. `opening` translates between the start of a hook and the line that requests it, and `peer` passes
//! requests and answers between a connection and a process. The keeper decides nothing.

mod client;
mod opening;
mod peer;
mod server;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tenter_base::Clock;
use tenter_bridge::Visitor;
use tenter_engine::inspect::Connector;

pub(crate) use server::KeeperOptions;

/// The first argument with which the keeper is started.
pub(crate) const COMMAND: &str = "keeper";

/// Reads the arguments after [`COMMAND`].
pub(crate) fn options(arguments: &[OsString]) -> Option<KeeperOptions> {
    let [socket, project, idle] = arguments else { return None };
    let socket = PathBuf::from(socket);
    let (project, idle) = (project.to_string_lossy().into_owned(), idle.to_str()?.parse().ok()?);
    socket.is_absolute().then(|| KeeperOptions {
        socket,
        project,
        idle: Duration::from_millis(idle),
    })
}

/// Keeps hooks until they are not used any more.
pub(crate) fn run(options: KeeperOptions, clock: Clock) -> ExitCode {
    leave_the_host();
    match server::run(options, clock) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Leaves the session of the host that started the keeper, its working directory and its files.
fn leave_the_host() {
    // The keeper works without its own session, too.
    let _ = rustix::process::setsid();
    let _ = std::env::set_current_dir("/");
    let open: Vec<i32> = std::fs::read_dir("/dev/fd")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| file.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // The directory that was read is closed already.
        let _ = nix::unistd::close(descriptor);
    }
    // Descendants of a hook that leave its group are killed with it.
    let _ = tenter_proc::adopt_orphans();
}

/// Returns the connection of the hooks of `visitor` to the keeper of the project.
pub(crate) fn connector(
    visitor: &Visitor,
    project: &Path,
    deadline: Instant,
) -> Arc<dyn Connector> {
    Arc::new(client::KeeperClient {
        project: project.to_owned(),
        state: visitor.directories.state.clone(),
        vars: Arc::clone(&visitor.vars),
        deadline,
    })
}
