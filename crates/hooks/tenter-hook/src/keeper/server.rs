//! Accepts connections to the keeper, and ends it when it is not used (S14).

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tenter_base::{Clock, FileLock, rfc3339};
use tenter_bridge::keeper::{
    self, ControlLine, KeeperPlace, KeeperStatus, Opening, check_peer, read_control,
};

use super::peer;
use super::processes::Processes;

/// The interval at which the keeper checks that its socket is still its own.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The limit for the first line of a connection.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of the first line, in bytes.
const MAX_OPENING: u64 = 1 << 20;

/// The parameters of a keeper.
#[derive(Debug)]
pub(crate) struct KeeperOptions {
    /// Its socket.
    pub(crate) socket: PathBuf,
    /// The project.
    pub(crate) project: String,
    /// The time after the last request at which it ends.
    pub(crate) idle: Duration,
}

#[derive(Default)]
struct KeeperState {
    processes: Processes,
    connections: usize,
    last_used: Option<Instant>,
    retires: bool,
}

struct Keeper {
    options: KeeperOptions,
    clock: Clock,
    since: String,
    state: Mutex<KeeperState>,
}

/// Keeps hooks until the keeper is not used any more, or retires.
///
/// # Errors
/// Another keeper listens at the socket, or the socket cannot be created.
pub(super) fn run(options: KeeperOptions, clock: Clock) -> io::Result<()> {
    let place = KeeperPlace::of_socket(&options.socket)
        .ok_or_else(|| io::Error::other("this is no socket of a keeper"))?;
    let Some(_lock) = FileLock::try_acquire(&place.lock())? else { return Ok(()) };
    let _ = fs::remove_file(&options.socket);
    let listener = UnixListener::bind(&options.socket)?;
    listener.set_nonblocking(true)?;
    let own = fs::symlink_metadata(&options.socket)?.ino();
    for other in place.others() {
        let _ = keeper::retire(&other);
    }
    let since = rfc3339(clock());
    let keeper = Arc::new(Keeper { options, clock, since, state: Mutex::default() });
    keeper.state().last_used = Some(Instant::now());
    let is_ours =
        || fs::symlink_metadata(&keeper.options.socket).is_ok_and(|file| file.ino() == own);
    while !keeper.is_done() {
        wait(&listener, keeper.time_left().min(CHECK_INTERVAL));
        while let Ok((stream, _)) = listener.accept() {
            keeper.serve(stream);
        }
        if !is_ours() {
            keeper.state().retires = true;
        }
    }
    if is_ours() {
        let _ = fs::remove_file(&keeper.options.socket);
    }
    keeper.state().processes.shut_down();
    Ok(())
}

fn wait(listener: &UnixListener, timeout: Duration) {
    let mut watched = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).ok();
    let _ = poll(&mut watched, timeout.as_ref());
}

impl Keeper {
    fn state(&self) -> MutexGuard<'_, KeeperState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time that the keeper still waits for a connection.
    fn time_left(&self) -> Duration {
        let state = self.state();
        let used = state.last_used.map_or(Duration::ZERO, |used| used.elapsed());
        if state.connections > 0 { CHECK_INTERVAL } else { self.options.idle.saturating_sub(used) }
    }

    fn is_done(&self) -> bool {
        let is_used = self.state().connections > 0;
        !is_used && (self.state().retires || self.time_left().is_zero())
    }

    /// Serves a connection on a thread of its own.
    fn serve(self: &Arc<Self>, stream: UnixStream) {
        if check_peer(&stream).is_err() || stream.set_nonblocking(false).is_err() {
            return;
        }
        self.state().connections += 1;
        let keeper = Arc::clone(self);
        let serve = move || {
            let used = Used(&keeper);
            let _ = keeper.converse(&Arc::new(stream));
            drop(used);
        };
        if thread::Builder::new().spawn(serve).is_err() {
            self.state().connections -= 1;
        }
    }

    fn converse(&self, stream: &Arc<UnixStream>) -> io::Result<()> {
        stream.set_read_timeout(Some(OPEN_TIMEOUT))?;
        let mut reader = BufReader::new(&**stream);
        let mut line = Vec::new();
        (&mut reader).take(MAX_OPENING).read_until(b'\n', &mut line)?;
        match read_control(&line) {
            Some(Ok(ControlLine::Open(opening))) => {
                stream.set_read_timeout(None)?;
                self.relay(&opening, stream, reader)
            }
            Some(Ok(ControlLine::Status)) => {
                (&**stream).write_all(&ControlLine::Kept(self.status()).to_line())
            }
            Some(Ok(ControlLine::Retire)) => {
                self.state().retires = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Passes messages between a connection and the process of a hook.
    fn relay(
        &self,
        opening: &Opening,
        stream: &Arc<UnixStream>,
        reader: BufReader<&UnixStream>,
    ) -> io::Result<()> {
        let process = self.state().processes.get_or_start(opening, (self.clock)());
        let process = match process {
            Ok(process) => process,
            Err(why) => return (&**stream).write_all(&ControlLine::Ended(why).to_line()),
        };
        (&**stream).write_all(&ControlLine::Accepted.to_line())?;
        peer::serve(stream, reader, process);
        self.state().processes.release(opening);
        Ok(())
    }

    fn status(&self) -> KeeperStatus {
        KeeperStatus {
            pid: std::process::id(),
            project: self.options.project.clone(),
            since: self.since.clone(),
            hooks: self.state().processes.status(),
        }
    }
}

/// Counts a connection until it ends, even if its thread panics.
struct Used<'k>(&'k Arc<Keeper>);

impl Drop for Used<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.connections -= 1;
        state.last_used = Some(Instant::now());
    }
}
