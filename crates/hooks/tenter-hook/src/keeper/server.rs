//! Accepts connections to the keeper, and ends it when it is not used (S14).

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tenter_base::{Clock, FileLock, rfc3339};
use tenter_bridge::keeper::{
    self, ControlLine, KeeperPlace, KeeperStatus, KeptHook, Opening, check_peer, read_control,
};
use tenter_engine::inspect::{ChildProcesses, ProcessPool};

use super::{opening, peer};

/// Maximum number of processes.
const MAX_PROCESSES: usize = 64;
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

struct Keeper {
    options: KeeperOptions,
    clock: Clock,
    since: String,
    /// The processes, and when each was started.
    pool: ProcessPool<Timestamp>,
    retires: AtomicBool,
}

/// Keeps hooks until the keeper is not used any more, or retires.
///
/// # Errors
/// Another keeper listens at the socket, or the socket cannot be created.
pub(super) fn run(options: KeeperOptions, clock: Clock) -> io::Result<()> {
    let place = KeeperPlace::from_socket(&options.socket)
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
    let pool = ProcessPool::new(Arc::new(ChildProcesses::default()), MAX_PROCESSES);
    let retires = AtomicBool::new(false);
    let keeper = Arc::new(Keeper { options, clock, since, pool, retires });
    let socket = &keeper.options.socket;
    let is_ours = || fs::symlink_metadata(socket).is_ok_and(|file| file.ino() == own);
    let mut last_used = Instant::now();
    loop {
        // Every connection has a thread that refers to the keeper.
        let is_used = Arc::strong_count(&keeper) > 1;
        if is_used {
            last_used = Instant::now();
        }
        let remaining = keeper.options.idle.saturating_sub(last_used.elapsed());
        if !is_used && (remaining.is_zero() || keeper.retires.load(Ordering::Relaxed)) {
            break;
        }
        wait(&listener, if is_used { CHECK_INTERVAL } else { remaining.min(CHECK_INTERVAL) });
        while let Ok((stream, _)) = listener.accept() {
            last_used = Instant::now();
            serve(&keeper, stream);
        }
        if !is_ours() {
            keeper.retires.store(true, Ordering::Relaxed);
        }
    }
    if is_ours() {
        let _ = fs::remove_file(socket);
    }
    keeper.pool.shut_down();
    Ok(())
}

fn wait(listener: &UnixListener, timeout: Duration) {
    let mut watched = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).ok();
    let _ = poll(&mut watched, timeout.as_ref());
}

/// Serves a connection on a thread of its own.
fn serve(keeper: &Arc<Keeper>, stream: UnixStream) {
    if check_peer(&stream).is_err() || stream.set_nonblocking(false).is_err() {
        return;
    }
    let keeper = Arc::clone(keeper);
    // Without a thread, the connection ends.
    let _ = thread::Builder::new().spawn(move || keeper.converse(&Arc::new(stream)));
}

impl Keeper {
    fn converse(&self, stream: &Arc<UnixStream>) -> io::Result<()> {
        stream.set_read_timeout(Some(OPEN_TIMEOUT))?;
        let mut reader = BufReader::new(&**stream);
        let mut line = Vec::new();
        (&mut reader).take(MAX_OPENING).read_until(b'\n', &mut line)?;
        match read_control(&line) {
            Some(Ok(ControlLine::Open(opening))) => {
                stream.set_read_timeout(None)?;
                self.relay(*opening, stream, reader)
            }
            Some(Ok(ControlLine::Status)) => {
                (&**stream).write_all(&ControlLine::Kept(self.status()).to_line())
            }
            Some(Ok(ControlLine::Retire)) => {
                self.retires.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Passes messages between a connection and the process of a hook.
    fn relay(
        &self,
        opening: Opening,
        stream: &Arc<UnixStream>,
        reader: BufReader<&UnixStream>,
    ) -> io::Result<()> {
        let key = opening::key(&opening);
        self.pool.remove_ended(&key);
        self.pool.forget_old_deaths();
        let start = || ((self.clock)(), opening::start(opening));
        match self.pool.get_or_start(&key, |_| true, start) {
            Err(why) => (&**stream).write_all(&ControlLine::Ended(why).to_line()),
            Ok((process, _)) => {
                (&**stream).write_all(&ControlLine::Accepted.to_line())?;
                peer::serve(stream, reader, process);
                Ok(())
            }
        }
    }

    fn status(&self) -> KeeperStatus {
        let hooks = self.pool.running().into_iter().map(|(key, process, start)| KeptHook {
            hook: key.hook,
            layer: key.layer.to_string(),
            since: rfc3339(start),
            answered: process.answered(),
        });
        KeeperStatus {
            pid: std::process::id(),
            project: self.options.project.clone(),
            since: self.since.clone(),
            hooks: hooks.collect(),
        }
    }
}
