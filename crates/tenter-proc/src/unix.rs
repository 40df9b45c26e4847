//! Processes on Unix: a group of its own, pipes that never block us, and one poll(2) for everything that can happen.
//!
//! Nothing here decides when a program is ended. A program is started without `pre_exec`, which would cost a copy of our
//! page tables with every start: the standard library then uses posix_spawn(3).

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use self::exit_watch::ExitWatch;
use self::strays::Strays;
use crate::cancel::LOOK;
use crate::capture::Capture;
use crate::{Cancel, Captured, End, Invocation, Streams, program};

#[path = "unix/adoption.rs"]
mod adoption;
#[path = "unix/exit_watch.rs"]
mod exit_watch;
#[path = "unix/orphans.rs"]
mod orphans;
#[path = "unix/processes.rs"]
mod processes;
#[path = "unix/strays.rs"]
mod strays;

pub(crate) use self::adoption::adopt as adopt_orphans;
pub(crate) use self::orphans::kill_all;

/// What one read takes at most. Answers are shorter, and every program that is run pays for the room.
const CHUNK: usize = 16 << 10;

/// Reads of one pipe in a row. Together they empty the largest pipe a program can ask for, and a program that writes without
/// end cannot keep us from looking at the clock.
const READS: usize = 64;

/// The longest single wait: some systems refuse more than fits into an `int` of milliseconds.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// A running program in its own process group, with our ends of its pipes.
#[derive(Debug)]
pub(crate) struct Process<'a> {
    leader: Leader,
    /// Gone once the program has exited.
    exit: Option<ExitWatch>,
    stdin: Option<Feed<'a>>,
    stdout: Drain,
    stderr: Drain,
    buffer: Vec<u8>,
}

impl<'a> Process<'a> {
    /// Starts a program.
    pub(crate) fn start(invocation: &'a Invocation) -> io::Result<Self> {
        let file = program::find(invocation)?;
        let mut command = in_own_group(invocation, &file);
        let stdin = Feed::connect(&mut command, &invocation.stdin)?;
        let (stdout, stderr) = connect_outputs(&mut command, invocation)?;
        let leader = Leader::spawn_supervised(&mut command, invocation)
            .map_err(|error| program::explain(&error, invocation, &file))?;
        let (leader, exit) = leader.watched()?;
        // The pipe is empty, so that most of what programs are told has room in it at once.
        let stdin = stdin.and_then(|mut feed| (!feed.is_over()).then_some(feed));
        Ok(Self { leader, exit: Some(exit), stdin, stdout, stderr, buffer: vec![0; CHUNK] })
        // The command goes here, and with it our copies of the child's ends of the pipes.
    }

    /// Waits until something happens, at most for `timeout`, and moves the bytes that can be moved. A thrown `cancel` counts
    /// as something.
    pub(crate) fn pump(&mut self, cancel: Option<&Cancel>, timeout: Option<Duration>) {
        let [stdin, stdout, stderr, exit, _] = self.wait(cancel, timeout);
        if stdin && self.stdin.as_mut().is_some_and(Feed::is_over) {
            self.stdin = None;
        }
        if stdout {
            self.stdout.read(&mut self.buffer);
        }
        if stderr {
            self.stderr.read(&mut self.buffer);
        }
        if exit {
            self.exit = None;
        }
    }

    fn wait(&self, cancel: Option<&Cancel>, timeout: Option<Duration>) -> [bool; 5] {
        let latch = cancel.and_then(Cancel::latch);
        let looking = cancel.filter(|_| latch.is_none()).map(|_| LOOK);
        let timeout = timeout.into_iter().chain(looking).min();
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

    /// Whether the program itself has exited.
    pub(crate) fn has_exited(&self) -> bool {
        self.exit.is_none()
    }

    /// Whether its output is at its end: nobody holds the pipes any more.
    pub(crate) fn is_drained(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// See [`Leader::tell_to_end`].
    pub(crate) fn tell_to_end(&mut self) {
        self.leader.tell_to_end();
    }

    /// See [`Leader::kill`].
    pub(crate) fn kill(&mut self) {
        self.leader.kill();
    }

    /// How it ended and what it wrote; one that has not exited is left to itself.
    pub(crate) fn finish(self) -> (End, Captured, Captured) {
        let end = if self.exit.is_none() { self.leader.reap() } else { self.leader.abandon() };
        (end, self.stdout.capture.finish(), self.stderr.capture.finish())
    }
}

/// The program a group was started with. As long as it is not reaped, its process id, which is the group's too, belongs to
/// nobody else: a signal to the group cannot hit strangers.
#[derive(Debug)]
pub(crate) struct Leader {
    child: Child,
    strays: Strays,
}

impl Leader {
    /// Starts a program that [`kill_all`] ends.
    fn spawn_supervised(command: &mut Command, invocation: &Invocation) -> io::Result<Self> {
        let strays = Strays::of(command, invocation);
        Ok(Self { child: orphans::spawn(command, Some(&strays))?, strays })
    }

    fn spawn(command: &mut Command, invocation: &Invocation) -> io::Result<Self> {
        let strays = Strays::of(command, invocation);
        Ok(Self { child: orphans::spawn(command, None)?, strays })
    }

    /// Starts a program that reads nothing and writes to `log`.
    pub(crate) fn start_logging(invocation: &Invocation, log: &Path) -> io::Result<Self> {
        let file = program::find(invocation)?;
        let mut command = in_own_group(invocation, &file);
        let log = open_log(log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Self::spawn(&mut command, invocation)
            .map_err(|error| program::explain(&error, invocation, &file))
    }

    /// What becomes readable when the program exits. Without it nobody could tell, so the program is ended at once.
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

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Whether the program itself, not some child of it, is still running. It is not reaped here.
    pub(crate) fn is_running(&self) -> bool {
        exit_watch::is_running(self.pid())
    }

    /// Sends SIGTERM to the group and those that left it, and SIGCONT so that members that are stopped get to see it.
    pub(crate) fn tell_to_end(&mut self) {
        let pid = self.pid();
        orphans::supervise(self.id(), &self.strays);
        // First, while the program still stands between us and those that it began.
        self.strays.tell_to_end(pid.as_raw_pid());
        // A group that cannot be signalled has ended, or runs as another user; both show in its exit, or the lack of it.
        let _ = kill_process_group(pid, Signal::TERM);
        let _ = kill_process_group(pid, Signal::CONT);
    }

    /// Sends SIGKILL to the group and those that left it.
    pub(crate) fn kill(&mut self) {
        let pid = self.pid();
        let _ = kill_process_group(pid, Signal::KILL);
        self.strays.kill(pid.as_raw_pid());
        orphans::reap_all();
    }

    /// Waits until the program has ended; says how. The reaping itself is nothing to wait in: others must not reap meanwhile.
    fn wait(self) -> End {
        exit_watch::until_exit(self.pid());
        self.reap()
    }

    /// How the program ended, which it has.
    fn reap(mut self) -> End {
        let end = match orphans::reap(&mut self.child) {
            Ok(status) => end_of(status),
            Err(error) => End::NotStarted(io::Error::new(
                error.kind(),
                format!("its exit status was lost, as it is when SIGCHLD is ignored: {error}"),
            )),
        };
        orphans::reap_now_and_then();
        end
    }

    /// Lets a thread of its own wait for the program, so that it will not stay a zombie.
    pub(crate) fn abandon(self) -> End {
        let id = self.id();
        // Without a thread it stays a zombie until we exit: the lesser harm.
        let _ = thread::Builder::new().name(format!("reap {id}")).spawn(move || self.wait());
        End::NotStarted(io::Error::other(format!("process {id} cannot be ended")))
    }
}

/// Of all systems only Linux lets a process ask for it like this.
pub(crate) fn keep_memory_private() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::ErrorKind::Unsupported.into())
}

fn end_of(status: ExitStatus) -> End {
    match status.code() {
        Some(code) => End::Exited(code),
        None => End::Signalled(status.signal().unwrap_or_default()),
    }
}

fn command(invocation: &Invocation, file: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the place the others are sent to")]
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

/// Starts a program that shares our terminal and our process group, without which the terminal would stop it.
pub(crate) fn start_beside_us(invocation: &Invocation) -> io::Result<Leader> {
    let file = program::find(invocation)?;
    let mut command = command(invocation, &file);
    if !invocation.stdin.is_empty() {
        command.stdin(Stdio::piped());
    }
    let started = Leader::spawn(&mut command, invocation);
    started.map_err(|error| program::explain(&error, invocation, &file))
}

/// Writes to such a program what it reads, and closes its stdin.
pub(crate) fn feed(program: &mut Leader, stdin: &[u8]) {
    if let Some(mut pipe) = program.child.stdin.take() {
        // A program may end before it has read everything (EPIPE).
        let _ = pipe.write_all(stdin);
    }
}

/// Waits until such a program has ended.
pub(crate) fn wait_for_end(program: Leader) -> End {
    program.wait()
}

fn open_log(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("the log `{}` cannot be written: {error}", path.display()),
        )
    })
}

/// Whether this is the system's word for a file that is neither a program nor begins with a `#!` line.
pub(crate) fn is_no_program(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NOEXEC)
}

/// What a program has still to read.
#[derive(Debug)]
struct Feed<'a> {
    pipe: io::PipeWriter,
    rest: &'a [u8],
}

impl<'a> Feed<'a> {
    /// Gives the command something to read; without it, a stdin that is at its end.
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

    /// Writes what the pipe takes; says whether that was all, or all the program wants.
    fn is_over(&mut self) -> bool {
        match self.pipe.write(self.rest) {
            Ok(count) => self.rest = &self.rest[count..],
            Err(error) if may_try_again(&error) => {}
            // Above all EPIPE: a program may leave its stdin unread (R37).
            Err(_) => return true,
        }
        self.rest.is_empty()
    }
}

/// One of a program's outputs.
#[derive(Debug)]
struct Drain {
    /// Gone at the end of the stream.
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

    /// Reads what is there, at most [`READS`] times.
    fn read(&mut self, buffer: &mut [u8]) {
        for _ in 0..READS {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(buffer) {
                Ok(count) if count > 0 => self.capture.push(&buffer[..count]),
                Err(error) if may_try_again(&error) => return,
                Ok(_) | Err(_) => self.pipe = None,
            }
        }
    }
}

fn may_try_again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Gives the command its outputs; ours are stdout and stderr. Merged, both are one pipe, so that their order is kept.
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

/// A pipe whose ends no child inherits unless it is given them.
fn pipe() -> io::Result<(io::PipeReader, io::PipeWriter)> {
    io::pipe()
        .map_err(|error| io::Error::new(error.kind(), format!("no pipe could be made: {error}")))
}

/// Waits until one of some descriptors is ready, at most for `timeout`; says which are.
fn wait_for<const N: usize>(
    sources: [Option<(BorrowedFd<'_>, PollFlags)>; N],
    timeout: Option<Duration>,
) -> [bool; N] {
    let timeout = timeout.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
    let mut polled: Vec<_> =
        sources.iter().flatten().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
    // A poll that fails is like one that found nothing: the caller looks at the clock and comes back.
    if poll(&mut polled, Timespec::try_from(timeout).ok().as_ref()).is_err() {
        thread::sleep(Duration::from_millis(1));
        return [false; N];
    }
    let mut polled = polled.iter();
    sources.map(|source| {
        source.and_then(|_| polled.next()).is_some_and(|polled| !polled.revents().is_empty())
    })
}

/// Something that is set once and can be waited for, also beside other things.
#[derive(Debug)]
pub(crate) struct Latch {
    reader: io::PipeReader,
    writer: io::PipeWriter,
}

impl Latch {
    /// One that is not set.
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        Ok(Self { reader, writer })
    }

    /// Sets it. To be called once: nobody ever reads the byte, so the pipe stays readable.
    pub(crate) fn set(&self) {
        // An empty pipe of which we hold both ends takes a byte.
        let _ = (&self.writer).write_all(b"!");
    }

    /// Waits until it is set, at most for `timeout`; it may return sooner.
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        wait_for([Some((self.reader.as_fd(), PollFlags::IN))], timeout);
    }
}
