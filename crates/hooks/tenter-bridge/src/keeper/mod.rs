//! The keeper of runtime hooks: its socket, its control lines, and the keepers that run (S14).
//!
//! The keeper is a mode of `tenter-hook`. It is one process per user, project and build, and keeps the processes of runtime hooks
//! between the events of hosts.

mod place;
mod wire;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use place::{KeeperPlace, check_peer, directories};
pub use wire::{ControlLine, KeeperStatus, KeptHook, Opening, read_control};

/// The limit for the answer of a keeper that is asked for its status.
const STATUS_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the status of the keepers of this user that listen in these directories, except those that do not answer.
pub fn running(directories: &[PathBuf]) -> Vec<KeeperStatus> {
    let places = directories.iter().flat_map(|directory| place::sockets(directory));
    places.filter_map(|socket| status(&socket).ok()).collect()
}

fn status(socket: &Path) -> io::Result<KeeperStatus> {
    let stream = place::connect(socket)?;
    stream.set_read_timeout(Some(STATUS_TIMEOUT))?;
    stream.set_write_timeout(Some(STATUS_TIMEOUT))?;
    wire::write(&stream, &ControlLine::Status)?;
    match wire::read(&stream)? {
        ControlLine::Kept(status) => Ok(status),
        _ => Err(io::Error::other("it did not answer with its status")),
    }
}

/// Asks the keeper at `socket` to end when its requests have.
///
/// # Errors
/// There is no keeper of this user.
pub fn retire(socket: &Path) -> io::Result<()> {
    let stream = place::connect(socket)?;
    stream.set_write_timeout(Some(STATUS_TIMEOUT))?;
    wire::write(&stream, &ControlLine::Retire)
}
