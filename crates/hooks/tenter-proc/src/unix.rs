//! Processes on Unix: process groups, non-blocking pipes, and one poll(2) for all events of a program.
//!
//! Nothing here decides when a program is ended. Programs are started without `pre_exec`, so that the standard library uses
//! posix_spawn(3) and does not copy the page tables of this process.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use self::exit_watch::ExitWatch;
use self::strays::Strays;
use crate::cancel::POLL_INTERVAL;
use crate::capture::Capture;
use crate::{Cancel, CapturedOutput, Invocation, ProcessEnd, Streams, program};

#[path = "unix/adoption.rs"]
mod adoption;
#[path = "unix/dialogue.rs"]
mod dialogue;
#[path = "unix/exit_watch.rs"]
mod exit_watch;
#[path = "unix/orphans.rs"]
mod orphans;
#[path = "unix/processes.rs"]
mod processes;
#[path = "unix/strays.rs"]
mod strays;

pub(crate) use self::adoption::adopt as adopt_orphans;
pub(crate) use self::dialogue::{DialoguePipes, Waker, exec_bound_to_parent};
pub(crate) use self::orphans::kill_all;

/// Maximum number of bytes per read. Replies are shorter, and every program that is run pays for the buffer.
const CHUNK: usize = 16 << 10;

/// Maximum number of consecutive reads of one pipe: enough to empty the largest pipe, and few enough for deadlines to be
/// checked while a program writes without end.
const READS: usize = 64;

/// Maximum length of a single poll: some systems reject more milliseconds than an `int` holds.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Maximum wait for a killed program.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// A running program in its own process group, with this process's ends of its pipes.
#[derive(Debug)]
pub(crate) struct Process<'a> {
    leader: Leader,
    /// `None` once the program has exited.
    exit: Option<ExitWatch>,
    stdin: Option<Feed<'a>>,
    stdout: Drain,
    stderr: Drain,
    buffer: Vec<u8>,
}

impl<'a> Process<'a> {
    pub(crate) fn start(invocation: &'a Invocation) -> io::Result<Self> {
        let file = program::find(invocation)?;
        let mut command = in_own_group(invocation, &file);
        let stdin = Feed::connect(&mut command, &invocation.stdin)?;
        let (stdout, stderr) = connect_outputs(&mut command, invocation)?;
        let leader = Leader::spawn_supervised(&mut command, invocation)
            .map_err(|error| program::explain(&error, invocation, &file))?;
        let (leader, exit) = leader.watched()?;
        // Most payloads fit in the empty pipe at once.
        let stdin = stdin.and_then(|mut feed| (!feed.is_over()).then_some(feed));
        Ok(Self { leader, exit: Some(exit), stdin, stdout, stderr, buffer: vec![0; CHUNK] })
        // Dropping the command closes this process's copies of the child's ends of the pipes.
    }

    /// Waits for an event, for at most `timeout`, and reads and writes what is possible without blocking. Setting `cancel` is an
    /// event. What is read is passed to `on_output`.
    pub(crate) fn pump(
        &mut self,
        cancel: Option<&Cancel>,
        timeout: Option<Duration>,
        on_output: &dyn Fn(&[u8]),
    ) {
        let [stdin, stdout, stderr, exit, _] = self.wait(cancel, timeout);
        if stdin && self.stdin.as_mut().is_some_and(Feed::is_over) {
            self.stdin = None;
        }
        if stdout {
            self.stdout.read(&mut self.buffer, on_output);
        }
        if stderr {
            self.stderr.read(&mut self.buffer, on_output);
        }
        if exit {
            self.exit = None;
        }
    }

    fn wait(&self, cancel: Option<&Cancel>, timeout: Option<Duration>) -> [bool; 5] {
        let latch = cancel.and_then(Cancel::latch);
        let poll_interval = cancel.filter(|_| latch.is_none()).map(|_| POLL_INTERVAL);
        let timeout = timeout.into_iter().chain(poll_interval).min();
        wait_for(
            [
                self.stdin.as_ref().map(|feed| (feed.pipe.as_fd(), PollFlags::OUT)),
                self.stdout.pipe.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)),
                self.stderr.pipe.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)),
                self.exit.as_ref().map(|exit| (exit.as_fd(), PollFlags::IN)),
                latch.map(|latch| (latch.reader.as_fd(), PollFlags::IN)),
            ],
            timeout,
        )
    }

    /// Returns true if the program itself has exited.
    pub(crate) fn has_exited(&self) -> bool {
        self.exit.is_none()
    }

    /// Returns true if its output has ended: no process holds the pipes open.
    pub(crate) fn is_drained(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// See [`Leader::terminate`].
    pub(crate) fn terminate(&mut self) {
        self.leader.terminate();
    }

    /// See [`Leader::kill`].
    pub(crate) fn kill(&mut self) {
        self.leader.kill();
    }

    /// Returns the end of the program and its output. A program that has not exited is [abandoned](Leader::abandon).
    pub(crate) fn finish(self) -> (ProcessEnd, CapturedOutput, CapturedOutput) {
        let end = if self.exit.is_none() { self.leader.reap() } else { self.leader.abandon() };
        (end, self.stdout.capture.finish(), self.stderr.capture.finish())
    }
}

/// The leader of a process group. Its process id, which is also the group's id, cannot be reused before it is reaped, so a signal
/// to the group cannot hit unrelated processes.
#[derive(Debug)]
pub(crate) struct Leader {
    child: Child,
    strays: Strays,
}

impl Leader {
    /// Starts a program that [`kill_all`] kills.
    fn spawn_supervised(command: &mut Command, invocation: &Invocation) -> io::Result<Self> {
        let strays = Strays::for_run(command, invocation);
        Ok(Self { child: orphans::spawn(command, Some(&strays))?, strays })
    }

    fn spawn(command: &mut Command, invocation: &Invocation) -> io::Result<Self> {
        let strays = Strays::for_run(command, invocation);
        Ok(Self { child: orphans::spawn(command, None)?, strays })
    }

    /// Starts a program with an empty stdin that writes to the file `log`.
    pub(crate) fn start_logging(invocation: &Invocation, log: &Path) -> io::Result<Self> {
        let file = program::find(invocation)?;
        let mut command = in_own_group(invocation, &file);
        let log = open_log(log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Self::spawn(&mut command, invocation)
            .map_err(|error| program::explain(&error, invocation, &file))
    }

    /// Starts a program without input and output in this process's group.
    pub(crate) fn start_detached(invocation: &Invocation) -> io::Result<Self> {
        let file = program::find(invocation)?;
        let mut command = command(invocation, &file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self::spawn(&mut command, invocation)
            .map_err(|error| program::explain(&error, invocation, &file))
    }

    /// Watches for the exit of the program. If that is not possible, the program is killed at once.
    fn watched(mut self) -> io::Result<(Self, ExitWatch)> {
        match ExitWatch::on(self.pid()) {
            Ok(exit) => Ok((self, exit)),
            Err(error) => {
                self.kill();
                self.abandon();
                Err(error)
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns true while the program itself is running. Does not reap it.
    pub(crate) fn is_running(&self) -> bool {
        exit_watch::is_running(self.pid())
    }

    /// Sends SIGTERM to the group and to processes that left it, then SIGCONT so that stopped ones receive it.
    pub(crate) fn terminate(&mut self) {
        let pid = self.pid();
        orphans::supervise(self.id(), &self.strays);
        // First, while the program is still the parent of the processes that it started.
        self.strays.terminate(pid.as_raw_pid());
        // A group that cannot be signalled has ended, or runs as another user.
        let _ = kill_process_group(pid, Signal::TERM);
        let _ = kill_process_group(pid, Signal::CONT);
    }

    /// Sends SIGKILL to the group and to processes that left it.
    pub(crate) fn kill(&mut self) {
        let pid = self.pid();
        let _ = kill_process_group(pid, Signal::KILL);
        self.strays.kill(pid.as_raw_pid());
        orphans::reap_all();
    }

    /// Waits until the program has exited, then reaps it. The wait is separate because reaping holds a lock.
    fn wait(self) -> ProcessEnd {
        exit_watch::until_exit(self.pid());
        self.reap()
    }

    /// Reaps the program, which must have exited.
    fn reap(mut self) -> ProcessEnd {
        let end = match orphans::reap(&mut self.child) {
            Ok(status) => end_of(status),
            Err(error) => ProcessEnd::NotStarted(io::Error::new(
                error.kind(),
                format!("the exit status is lost, as it is when SIGCHLD is ignored: {error}"),
            )),
        };
        orphans::reap_if_due();
        end
    }

    /// Returns the end of a program that received SIGKILL. One that does not die is [abandoned](Self::abandon).
    pub(crate) fn finish(self) -> ProcessEnd {
        let until = Instant::now() + KILL_TIMEOUT;
        while self.is_running() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        if self.is_running() { self.abandon() } else { self.reap() }
    }

    /// Reaps the program in a separate thread, so that it does not stay a zombie.
    pub(crate) fn abandon(self) -> ProcessEnd {
        let id = self.id();
        // Without a thread it stays a zombie until this process exits, which is acceptable.
        let _ = thread::Builder::new().name(format!("reap {id}")).spawn(move || self.wait());
        ProcessEnd::NotStarted(io::Error::other(format!("process {id} cannot be ended")))
    }
}

/// Keeps the memory private, which only Linux supports.
pub(crate) fn keep_memory_private() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::ErrorKind::Unsupported.into())
}

/// Catches the signal instead of ignoring it: a caught signal gets its default action back where another program is executed.
pub(crate) fn outlive_file_size_limit() -> io::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default()).map(drop)
}

fn end_of(status: ExitStatus) -> ProcessEnd {
    match status.code() {
        Some(code) => ProcessEnd::Exited(code),
        None => ProcessEnd::Signalled(status.signal().unwrap_or_default()),
    }
}

fn command(invocation: &Invocation, file: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the only place that starts programs")]
    let mut command = Command::new(file);
    command.arg0(&invocation.program).args(&invocation.args).current_dir(&invocation.cwd);
    command.env_clear().envs(invocation.env.iter().map(|(name, value)| (name, value)));
    command
}

fn in_own_group(invocation: &Invocation, file: &Path) -> Command {
    let mut command = command(invocation, file);
    command.process_group(0);
    command
}

/// Starts a program in this process's group, so that it may use the terminal.
pub(crate) fn start_in_foreground(invocation: &Invocation) -> io::Result<Leader> {
    let file = program::find(invocation)?;
    let mut command = command(invocation, &file);
    if !invocation.stdin.is_empty() {
        command.stdin(Stdio::piped());
    }
    let leader = Leader::spawn(&mut command, invocation);
    leader.map_err(|error| program::explain(&error, invocation, &file))
}

/// See [`crate::replace_process`].
pub(crate) fn replace_process(invocation: &Invocation) -> io::Error {
    match program::find(invocation) {
        Ok(file) => command(invocation, &file).exec(),
        Err(error) => error,
    }
}

/// Writes the stdin of a foreground program, and closes it.
pub(crate) fn feed(program: &mut Leader, stdin: &[u8]) {
    if let Some(mut pipe) = program.child.stdin.take() {
        // A program may end before it has read everything (EPIPE).
        let _ = pipe.write_all(stdin);
    }
}

/// Waits until a foreground program has ended.
pub(crate) fn wait_for_end(program: Leader) -> ProcessEnd {
    program.wait()
}

fn open_log(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write the log `{}`: {error}", path.display()))
    })
}

/// Returns true if this is the system's error for a file that is neither a program nor begins with a `#!` line.
pub(crate) fn is_no_program(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NOEXEC)
}

/// Writes the stdin of a program.
#[derive(Debug)]
struct Feed<'a> {
    pipe: io::PipeWriter,
    rest: &'a [u8],
}

impl<'a> Feed<'a> {
    /// Connects stdin. Without bytes, the program reads end-of-file.
    fn connect(command: &mut Command, bytes: &'a [u8]) -> io::Result<Option<Self>> {
        if bytes.is_empty() {
            command.stdin(Stdio::null());
            return Ok(None);
        }
        let (reader, pipe) = pipe()?;
        rustix::io::ioctl_fionbio(&pipe, true)?;
        command.stdin(reader);
        Ok(Some(Self { pipe, rest: bytes }))
    }

    /// Writes what the pipe takes. Returns whether everything is written, or the program reads no more.
    fn is_over(&mut self) -> bool {
        match self.pipe.write(self.rest) {
            Ok(count) => self.rest = &self.rest[count..],
            Err(error) if is_retryable(&error) => {}
            // Usually EPIPE: a program may leave its stdin unread (R37).
            Err(_) => return true,
        }
        self.rest.is_empty()
    }
}

/// Reads one output stream of a program.
#[derive(Debug)]
struct Drain {
    /// `None` at the end of the stream.
    pipe: Option<io::PipeReader>,
    capture: Capture,
}

impl Drain {
    fn new(pipe: Option<io::PipeReader>, keep: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, capture: Capture::new(keep) })
    }

    /// Reads what is available, with at most [`READS`] reads.
    fn read(&mut self, buffer: &mut [u8], on_output: &dyn Fn(&[u8])) {
        for _ in 0..READS {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(buffer) {
                Ok(count) if count > 0 => {
                    self.capture.push(&buffer[..count]);
                    on_output(&buffer[..count]);
                }
                Err(error) if is_retryable(&error) => return,
                Ok(_) | Err(_) => self.pipe = None,
            }
        }
    }
}

fn is_retryable(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Connects stdout and stderr, and returns this process's ends. Merged, both are one pipe, which keeps their order.
fn connect_outputs(command: &mut Command, invocation: &Invocation) -> io::Result<(Drain, Drain)> {
    let keep = invocation.limits.keep;
    let (stdout, out) = pipe()?;
    let (stderr, err) = match invocation.streams {
        Streams::Merged => (None, out.try_clone()?),
        Streams::Separate => pipe().map(|(stderr, err)| (Some(stderr), err))?,
    };
    command.stdout(out).stderr(err);
    Ok((Drain::new(Some(stdout), keep)?, Drain::new(stderr, keep)?))
}

/// Returns a pipe with close-on-exec set on both ends.
fn pipe() -> io::Result<(io::PipeReader, io::PipeWriter)> {
    io::pipe()
        .map_err(|error| io::Error::new(error.kind(), format!("cannot create a pipe: {error}")))
}

/// Waits until a descriptor is ready, for at most `timeout`. Returns which are ready.
fn wait_for<const N: usize>(
    sources: [Option<(BorrowedFd<'_>, PollFlags)>; N],
    timeout: Option<Duration>,
) -> [bool; N] {
    let timeout = timeout.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
    let mut polled: Vec<_> =
        sources.iter().flatten().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
    // A failed poll is treated like a timeout: the caller checks its deadline and polls again.
    if poll(&mut polled, Timespec::try_from(timeout).ok().as_ref()).is_err() {
        thread::sleep(Duration::from_millis(1));
        return [false; N];
    }
    let mut polled = polled.iter();
    sources.map(|source| {
        source.and_then(|_| polled.next()).is_some_and(|polled| !polled.revents().is_empty())
    })
}

/// A flag that is set once and can be polled like a descriptor.
#[derive(Debug)]
pub(crate) struct Latch {
    reader: io::PipeReader,
    writer: io::PipeWriter,
}

impl Latch {
    /// Creates a latch that is not set.
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        Ok(Self { reader, writer })
    }

    /// Sets the latch. Must be called at most twice. The bytes are never read, so the pipe stays readable.
    pub(crate) fn set(&self) {
        // Cannot fail: the pipe has room and both ends are open.
        let _ = (&self.writer).write_all(b"!");
    }

    /// Waits until the latch is set, for at most `timeout`. May return earlier.
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        wait_for([Some((self.reader.as_fd(), PollFlags::IN))], timeout);
    }
}
