//! The keeper itself: accepts connections, keeps the processes of hooks, and ends when it is not used (S14).

use std::collections::{BTreeMap, VecDeque};
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
use tenter_protocol::runtime::read_message;

use super::hook_process::HookProcess;

/// How often the keeper looks whether its socket is still its own.
const LOOK: Duration = Duration::from_secs(1);
/// How long a connection may take to say what it wants.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of the first line, in bytes.
const MAX_OPENING: u64 = 1 << 20;
/// Maximum number of processes. The one that was not used for longest is ended first.
const MAX_PROCESSES: usize = 64;
/// The number of ends within [`DEATH_WINDOW`] after which a hook is not started again.
const MAX_DEATHS: usize = 3;
const DEATH_WINDOW: Duration = Duration::from_mins(1);

/// What a keeper is started with.
#[derive(Debug)]
pub(crate) struct KeeperOptions {
    /// Where it listens.
    pub(crate) socket: PathBuf,
    /// The project.
    pub(crate) project: String,
    /// When it ends after its last request.
    pub(crate) idle: Duration,
}

/// A hook in one state, with one environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key(Vec<String>);

impl Key {
    fn new(opening: &Opening) -> Self {
        let Opening { hook, layer, fingerprint, program, args, cwd, env } = opening;
        let mut parts = vec![layer.clone(), hook.clone(), fingerprint.clone()];
        parts.extend([program.clone(), cwd.clone()]);
        parts.extend(args.iter().cloned());
        parts.push(String::new());
        let mut env: Vec<String> =
            env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        env.sort();
        parts.extend(env);
        Self(parts)
    }

    /// Whether this is another state of the same hook.
    fn is_other_version_of(&self, other: &Self) -> bool {
        self.0[..2] == other.0[..2] && self.0[2] != other.0[2]
    }
}

struct Kept {
    process: Arc<HookProcess>,
    last_used: Instant,
}

#[derive(Default)]
struct State {
    processes: BTreeMap<Key, Kept>,
    deaths: BTreeMap<Key, VecDeque<Instant>>,
    connections: usize,
    last_used: Option<Instant>,
    retires: bool,
}

struct Keeper {
    options: KeeperOptions,
    clock: Clock,
    since: String,
    state: Mutex<State>,
}

/// Keeps hooks until nothing has used the keeper for a while, or it retires.
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
        wait(&listener, keeper.left().min(LOOK));
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
    let processes = std::mem::take(&mut keeper.state().processes);
    for kept in processes.values() {
        kept.process.end("the keeper ends");
    }
    Ok(())
}

fn wait(listener: &UnixListener, timeout: Duration) {
    let mut watched = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).ok();
    let _ = poll(&mut watched, timeout.as_ref());
}

impl Keeper {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the keeper still waits for a connection.
    fn left(&self) -> Duration {
        let state = self.state();
        let used = state.last_used.map_or(Duration::ZERO, |used| used.elapsed());
        if state.connections > 0 { LOOK } else { self.options.idle.saturating_sub(used) }
    }

    fn is_done(&self) -> bool {
        let is_used = self.state().connections > 0;
        !is_used && (self.state().retires || self.left().is_zero())
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
        mut reader: BufReader<&UnixStream>,
    ) -> io::Result<()> {
        let key = Key::new(opening);
        let joined = self.process(&key, opening).and_then(|process| {
            (&**stream).write_all(&ControlLine::Accepted.to_line()).map_err(|e| e.to_string())?;
            let peer = process.join(stream).ok_or("it has just ended")?;
            Ok((process, peer))
        });
        let (process, peer) = match joined {
            Ok(joined) => joined,
            Err(why) => return (&**stream).write_all(&ControlLine::Ended(why).to_line()),
        };
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            match read_control(&line) {
                Some(Ok(ControlLine::Kill)) => process.end("was killed"),
                Some(_) => {}
                None => match read_message(&line) {
                    Ok(Some(message)) => process.received(peer, message),
                    Ok(None) => {}
                    Err(_) => break,
                },
            }
            line.clear();
        }
        process.leave(peer);
        self.note_end(&key, &process);
        Ok(())
    }

    /// The process of a hook, which is started if there is none.
    ///
    /// # Errors
    /// Why there is none.
    fn process(&self, key: &Key, opening: &Opening) -> Result<Arc<HookProcess>, String> {
        let mut state = self.state();
        let now = Instant::now();
        state.bury_ended(now);
        // Processes of other versions of the hook end as soon as nothing uses them.
        state.end_if(|other, kept| other.is_other_version_of(key) && kept.process.is_idle());
        if let Some(kept) = state.processes.get_mut(key) {
            kept.last_used = now;
            return Ok(Arc::clone(&kept.process));
        }
        let deaths = state.deaths.get(key).map_or(0, VecDeque::len);
        if deaths >= MAX_DEATHS {
            return Err(format!("its process ended {deaths} times within a minute"));
        }
        if state.processes.len() >= MAX_PROCESSES {
            state.end_oldest();
        }
        let process = HookProcess::start(opening, (self.clock)())
            .map_err(|error| format!("it could not be started: {error}"))?;
        let kept = Kept { process: Arc::clone(&process), last_used: now };
        state.processes.insert(key.clone(), kept);
        Ok(process)
    }

    /// Forgets a process that has ended.
    fn note_end(&self, key: &Key, process: &Arc<HookProcess>) {
        let mut state = self.state();
        if let Some(kept) = state.processes.get_mut(key)
            && Arc::ptr_eq(&kept.process, process)
        {
            kept.last_used = Instant::now();
        }
        state.bury_ended(Instant::now());
    }

    fn status(&self) -> KeeperStatus {
        let processes: Vec<Arc<HookProcess>> = {
            let mut state = self.state();
            state.bury_ended(Instant::now());
            state.processes.values().map(|kept| Arc::clone(&kept.process)).collect()
        };
        KeeperStatus {
            pid: std::process::id(),
            project: self.options.project.clone(),
            since: self.since.clone(),
            hooks: processes.iter().map(|process| process.status()).collect(),
        }
    }
}

impl State {
    /// Removes the processes that have ended, and remembers that.
    fn bury_ended(&mut self, now: Instant) {
        let is_ended = |kept: &Kept| kept.process.has_ended();
        let ended: Vec<Key> = self
            .processes
            .iter()
            .filter(|(_, kept)| is_ended(kept))
            .map(|(key, _)| key.clone())
            .collect();
        for key in ended {
            self.processes.remove(&key);
            self.deaths.entry(key).or_default().push_back(now);
        }
        for deaths in self.deaths.values_mut() {
            deaths.retain(|death| now.duration_since(*death) < DEATH_WINDOW);
        }
        self.deaths.retain(|_, deaths| !deaths.is_empty());
    }

    fn end_if(&mut self, is_over: impl Fn(&Key, &Kept) -> bool) {
        self.processes.retain(|key, kept| {
            let is_over = is_over(key, kept);
            if is_over {
                kept.process.end("is not used any more");
            }
            !is_over
        });
    }

    /// Ends the process that was not used for longest.
    fn end_oldest(&mut self) {
        let idle = self.processes.iter().filter(|(_, kept)| kept.process.is_idle());
        let oldest = idle.min_by_key(|(_, kept)| kept.last_used).map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            self.end_if(|key, _| *key == oldest);
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
