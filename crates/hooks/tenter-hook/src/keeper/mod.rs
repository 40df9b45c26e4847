//! The keeper: one process per user, project and build that keeps runtime hooks between the events of hosts (S14, S15).
//!
//! ```text
//! tenter-hook (one per event) ── client ──► socket ──► server ── routes ──► hook_process ──► hook
//! ```
//!
//! `client` is how `tenter-hook` calls hooks through it, and starts it. `server` accepts connections and keeps the processes,
//! `hook_process` is one of them, and `routes` says which request belongs to which connection. The keeper decides nothing: it only
//! holds processes and passes lines on.

mod client;
mod hook_process;
mod routes;
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

/// Keeps hooks until nothing has used them for a while.
pub(crate) fn run(options: KeeperOptions, clock: Clock) -> ExitCode {
    leave_the_host();
    match server::run(options, clock) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Leaves the session of the host that happened to start the keeper, its directory and its files.
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

/// How the hooks of `visitor` are called: through the keeper of the project.
pub(crate) fn connector(
    visitor: &Visitor,
    project: &Path,
    deadline: Instant,
) -> Arc<dyn Connector> {
    Arc::new(client::KeeperClient {
        project: project.to_owned(),
        state: visitor.directories.state.clone(),
        vars: visitor.vars.clone(),
        deadline,
    })
}
