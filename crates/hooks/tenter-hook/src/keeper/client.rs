//! Calls runtime hooks through the keeper, and starts it if there is none. If anything fails here, the hook runs in the one-shot form
//! (S15).

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tenter_base::{FileLock, FileStamp};
use tenter_bridge::keeper::{ControlLine, KeeperPlace, directories, read_control};
use tenter_engine::inspect::{
    ChildProcesses, Connection, Connector, Environment, GrantedTurn, Start,
};
use tenter_proc::{DialogueEnd, DialogueListener, Invocation, NotSent, ProcessEnd};
use tenter_protocol::runtime::Initialized;

use super::opening::opening;

/// The limit until the keeper accepts a hook, its start included.
const ACCEPT_TIMEOUT: Duration = Duration::from_millis(100);
/// The interval of attempts to connect to a keeper that starts.
const CONNECT_INTERVAL: Duration = Duration::from_millis(2);
/// The limit for the keeper to read a line.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);
/// The time after the last request at which a keeper ends.
const IDLE_TIME: Duration = Duration::from_mins(10);
/// Sets another time, in milliseconds, for tests.
const IDLE_VARIABLE: &str = "TENTER_KEEPER_IDLE_MS";
/// Connects hooks of one project to its keeper.
pub(super) struct KeeperClient {
    pub(super) project: PathBuf,
    pub(super) state: PathBuf,
    pub(super) vars: Arc<Environment>,
    /// The time until which a hook waits for its turn.
    pub(super) deadline: Instant,
}

impl Connector for KeeperClient {
    fn connect(
        &self,
        start: Start,
        mut listener: Box<dyn DialogueListener>,
    ) -> io::Result<Box<dyn Connection>> {
        let stderr = Arc::<Mutex<String>>::default();
        let relayed_stderr = Arc::clone(&stderr);
        let (sender, receiver) = mpsc::channel();
        let relay_lines = move || {
            if let Ok((reader, listener)) = receiver.recv() {
                relay(reader, listener, &relayed_stderr);
            }
        };
        // Others wait during the turn, so the thread is started before it.
        thread::Builder::new().name("keeper".to_owned()).spawn(relay_lines)?;
        let (stream, reader, turn) = match self.open(&start) {
            // It has no other form, so it is started for this event.
            Err(_) if start.is_serve_only => {
                return ChildProcesses::default().connect(start, listener);
            }
            opened => opened?,
        };
        let turn = match turn {
            Ok(turn) => {
                let _ = sender.send((reader, listener));
                Some(turn)
            }
            Err(why) => {
                listener.ended(ended(why));
                None
            }
        };
        Ok(Box::new(KeptConnection { stream, turn, stderr }))
    }
}

/// A connection that the keeper accepted, with its reader and the turn that it granted; or with the reason why its process ended before
/// that.
type OpenedHook = (UnixStream, BufReader<UnixStream>, Result<GrantedTurn, String>);

fn ended(why: String) -> DialogueEnd {
    DialogueEnd::Process(ProcessEnd::NotStarted(io::Error::other(why)))
}

/// Reads a control line.
///
/// # Errors
/// The next line is none, or does not come by `deadline`.
fn read_line(reader: &mut BufReader<UnixStream>, deadline: Instant) -> io::Result<ControlLine> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    reader.get_ref().set_read_timeout(Some(remaining.max(Duration::from_millis(1))))?;
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    read_control(&line).unwrap_or_else(|| Err(io::Error::other("the keeper has ended")))
}

impl KeeperClient {
    /// Opens a connection to the process of a hook, and waits for its turn.
    fn open(&self, start: &Start) -> io::Result<OpenedHook> {
        let deadline = Instant::now() + ACCEPT_TIMEOUT;
        let opening = opening(start).ok_or_else(|| io::Error::other("it is not UTF-8"))?;
        let stream = self.connect_keeper(deadline)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        (&stream).write_all(&ControlLine::Open(Box::new(opening)).to_line())?;
        let mut reader = BufReader::new(stream.try_clone()?);
        match read_line(&mut reader, deadline)? {
            ControlLine::Accepted => {}
            ControlLine::Ended(why) => return Err(io::Error::other(why)),
            _ => return Err(io::Error::other("the keeper did not accept the hook")),
        }
        let turn = loop {
            match read_line(&mut reader, self.deadline)? {
                ControlLine::Granted { concurrency, has_waited } => {
                    break Ok(GrantedTurn { initialized: Initialized { concurrency }, has_waited });
                }
                ControlLine::Ended(why) => break Err(why),
                _ => {}
            }
        };
        stream.set_read_timeout(None)?;
        Ok((stream, reader, turn))
    }

    /// Connects to the keeper, and starts it if there is none.
    fn connect_keeper(&self, deadline: Instant) -> io::Result<UnixStream> {
        let program = std::env::current_exe()?;
        let directories = directories(&self.vars, &self.state);
        let build = build_id(&program)?;
        let place = KeeperPlace::find(&directories, (&self.project, &self.state), &build)?;
        let mut starting = None;
        loop {
            let error = match place.connect() {
                Ok(stream) => return Ok(stream),
                Err(error) => error,
            };
            if Instant::now() >= deadline {
                return Err(error);
            }
            if starting.is_none()
                && let Some(lock) = FileLock::try_acquire(&place.starting_lock())?
            {
                starting = Some(lock);
                if let Ok(stream) = place.connect() {
                    return Ok(stream);
                }
                self.start(&program, &place.socket())?;
            }
            thread::sleep(CONNECT_INTERVAL);
        }
    }

    fn start(&self, program: &Path, socket: &Path) -> io::Result<()> {
        let idle = self.vars.iter().find(|(name, _)| name == IDLE_VARIABLE);
        let idle = idle.and_then(|(_, value)| value.to_str()?.parse().ok());
        let idle = idle.map_or(IDLE_TIME, Duration::from_millis);
        let invocation = Invocation {
            program: program.to_owned(),
            args: vec![
                "keeper".into(),
                socket.into(),
                (&self.project).into(),
                idle.as_millis().to_string().into(),
            ],
            cwd: "/".into(),
            ..Invocation::default()
        };
        tenter_proc::start_detached(&invocation)
    }
}

/// Identifies this build by the version and the file of the program.
fn build_id(program: &Path) -> io::Result<String> {
    let stamp = FileStamp::new(&std::fs::metadata(program)?);
    Ok(format!("{} {stamp:?}", env!("CARGO_PKG_VERSION")))
}

/// Passes the lines of the hook to `listener` until the connection ends.
fn relay(
    mut reader: BufReader<UnixStream>,
    mut listener: Box<dyn DialogueListener>,
    stderr: &Mutex<String>,
) {
    let mut line = Vec::new();
    let mut end = DialogueEnd::Killed;
    while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        match read_control(&line) {
            None => listener.line(line.strip_suffix(b"\n").unwrap_or(&line)),
            Some(Ok(ControlLine::Stderr(text))) => {
                stderr.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            }
            Some(Ok(ControlLine::Ended(why))) => end = ended(why),
            Some(_) => {}
        }
        line.clear();
    }
    listener.ended(end);
}

/// A connection to the process of a hook.
struct KeptConnection {
    stream: UnixStream,
    /// `None` if the hook has ended.
    turn: Option<GrantedTurn>,
    stderr: Arc<Mutex<String>>,
}

impl KeptConnection {
    fn stderr(&self) -> std::sync::MutexGuard<'_, String> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection for KeptConnection {
    fn send(&self, line: &[u8]) -> Result<(), NotSent> {
        (&self.stream).write_all(line).map_err(|_| NotSent::Closed)
    }

    /// Ends the connection. The keeper cancels its requests, and kills a hook that does not answer that.
    fn close(&self, _patience: Duration) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn wait(&self, _patience: Duration) {}

    fn is_shared(&self) -> bool {
        true
    }

    fn turn(&self) -> Option<GrantedTurn> {
        self.turn
    }

    fn stderr_position(&self) -> u64 {
        self.stderr().len() as u64
    }

    fn stderr_since(&self, position: u64) -> String {
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        self.stderr().get(position..).unwrap_or_default().to_owned()
    }
}
