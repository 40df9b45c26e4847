//! The pipes of a program with which lines are exchanged.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::process::getpid;

use super::exit_watch::ExitWatch;
use super::{CHUNK, Leader, READS, in_own_group, is_retryable, pipe, wait_for};
use crate::trampoline::Trampoline;
use crate::{Invocation, ProcessEnd, program};

/// A running program in its own process group, with this process's ends of its pipes except stdin.
pub(crate) struct DialoguePipes {
    /// Taken when the program is ended.
    leader: Option<Leader>,
    /// `None` once the program has exited.
    exit: Option<ExitWatch>,
    /// `None` at the end of the stream.
    stdout: Option<io::PipeReader>,
    stderr: Option<io::PipeReader>,
    buffer: Vec<u8>,
}

impl DialoguePipes {
    /// Starts a program. Returns its stdin, which never blocks.
    pub(crate) fn start(
        invocation: &Invocation,
        trampoline: Option<&Trampoline>,
    ) -> io::Result<(Self, io::PipeWriter)> {
        let file = program::find(invocation)?;
        let bound = trampoline.map(|trampoline| bound(invocation, trampoline, &file));
        let actual = bound.as_ref().unwrap_or(invocation);
        let mut command =
            in_own_group(actual, if bound.is_some() { &actual.program } else { &file });
        let (reader, stdin) = pipe()?;
        let (stdout, out) = pipe()?;
        let (stderr, err) = pipe()?;
        rustix::io::ioctl_fionbio(&stdin, true)?;
        rustix::io::ioctl_fionbio(&stdout, true)?;
        rustix::io::ioctl_fionbio(&stderr, true)?;
        command.stdin(reader).stdout(out).stderr(err);
        let leader = Leader::spawn_supervised(&mut command, actual)
            .map_err(|error| program::explain(&error, actual, &file))?;
        let (leader, exit) = leader.watched()?;
        let pipes = Self {
            leader: Some(leader),
            exit: Some(exit),
            stdout: Some(stdout),
            stderr: Some(stderr),
            buffer: vec![0; CHUNK],
        };
        Ok((pipes, stdin))
    }

    /// Waits until the program writes or exits, `stdin` can be written or the waker is used, for at most `timeout`.
    pub(crate) fn wait(
        &mut self,
        stdin: Option<&io::PipeWriter>,
        waker: &Waker,
        timeout: Option<Duration>,
    ) {
        let [woken, exited, ..] = wait_for(
            [
                Some((waker.reader.as_fd(), PollFlags::IN)),
                self.exit.as_ref().map(|exit| (exit.as_fd(), PollFlags::IN)),
                self.stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)),
                self.stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)),
                stdin.map(|pipe| (pipe.as_fd(), PollFlags::OUT)),
            ],
            timeout,
        );
        if woken {
            waker.reset();
        }
        if exited {
            self.exit = None;
        }
    }

    pub(crate) fn read_stdout(&mut self, sink: impl FnMut(&[u8])) {
        read(&mut self.stdout, &mut self.buffer, sink);
    }

    pub(crate) fn read_stderr(&mut self, sink: impl FnMut(&[u8])) {
        read(&mut self.stderr, &mut self.buffer, sink);
    }

    /// Returns true if the program itself has exited.
    pub(crate) fn has_exited(&self) -> bool {
        self.exit.is_none()
    }

    /// Returns true if no process holds its stdout open any more.
    pub(crate) fn stdout_is_closed(&self) -> bool {
        self.stdout.is_none()
    }

    /// Kills the program, its group and processes that left it. Returns how the program ended.
    pub(crate) fn end(&mut self) -> ProcessEnd {
        let Some(mut leader) = self.leader.take() else { return ProcessEnd::Cancelled };
        leader.kill();
        leader.finish()
    }
}

/// Reads what is available, with at most [`READS`] reads.
fn read(pipe: &mut Option<io::PipeReader>, buffer: &mut [u8], mut sink: impl FnMut(&[u8])) {
    for _ in 0..READS {
        let Some(open) = pipe else { return };
        match open.read(buffer) {
            Ok(count) if count > 0 => {
                sink(&buffer[..count]);
                if count < buffer.len() {
                    return;
                }
            }
            Err(error) if is_retryable(&error) => return,
            Ok(_) | Err(_) => *pipe = None,
        }
    }
}

/// Returns the invocation of a trampoline that continues as `invocation`.
fn bound(invocation: &Invocation, trampoline: &Trampoline, file: &Path) -> Invocation {
    let mut args = trampoline.args.clone();
    args.push(getpid().as_raw_pid().to_string().into());
    args.push(file.into());
    args.extend(invocation.args.iter().cloned());
    Invocation { program: trampoline.program.clone(), args, ..invocation.clone() }
}

/// See [`crate::exec_bound_to_parent`].
pub(crate) fn exec_bound_to_parent(args: impl IntoIterator<Item = OsString>) -> io::Error {
    let mut args = args.into_iter();
    let parent = args.next().and_then(|parent| parent.to_str()?.parse::<i32>().ok());
    let (Some(parent), Some(program)) = (parent, args.next()) else {
        return io::Error::new(
            io::ErrorKind::InvalidInput,
            "the parent and the program are missing",
        );
    };
    if let Err(error) = bind_to_parent(parent) {
        return error;
    }
    #[expect(clippy::disallowed_methods, reason = "it replaces this process, which is supervised")]
    let mut command = Command::new(program);
    command.args(args).exec()
}

/// Makes the system kill this process when `parent` ends. It may have ended before.
#[cfg(target_os = "linux")]
fn bind_to_parent(parent: i32) -> io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().is_some_and(|now| now.as_raw_pid() == parent) {
        return Ok(());
    }
    Err(io::Error::other("the process that started this one has ended"))
}

#[cfg(not(target_os = "linux"))]
fn bind_to_parent(_parent: i32) -> io::Result<()> {
    Ok(())
}

/// Wakes a thread that waits for pipes, any number of times.
pub(crate) struct Waker {
    reader: io::PipeReader,
    writer: io::PipeWriter,
}

impl Waker {
    pub(crate) fn new() -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        Ok(Self { reader, writer })
    }

    /// Wakes the thread, now or when it waits next.
    pub(crate) fn wake(&self) {
        // A full pipe wakes it as well.
        let _ = (&self.writer).write(b"!");
    }

    fn reset(&self) {
        let _ = (&self.reader).read(&mut [0; 64]);
    }
}
