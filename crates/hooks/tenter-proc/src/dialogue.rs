//! Programs with which lines are exchanged until one side ends it. A thread of its own reads and writes, so that no caller waits for a
//! program that does not read, writes without end or hangs.

mod lines;
mod listener;
mod tail;

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::os::{DialoguePipes, Waker};
use crate::supervise::start_with_retry;
use crate::trampoline::Trampoline;
use crate::{Cancel, Invocation};
use lines::{IDLE_CAPACITY, Lines};
pub use listener::{DialogueEnd, DialogueListener};
use tail::Tail;

/// Limits of a dialogue, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialogueLimits {
    /// Maximum length of a line that the program writes.
    pub line: usize,
    /// Maximum number of bytes that the program has not read yet, unless they are a single line.
    pub unread: usize,
    /// Maximum number of bytes of stderr that are kept, from its end.
    pub stderr: usize,
}

impl Default for DialogueLimits {
    /// Returns 1 MiB per line, 8 MiB unread, 16 KiB of stderr.
    fn default() -> Self {
        Self { line: 1 << 20, unread: 8 << 20, stderr: 16 << 10 }
    }
}

/// The reason for which a line was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// The program has ended, has closed its stdin, or is being ended.
    Closed,
    /// The program does not read: too many bytes wait for it.
    Full,
}

/// A running program with which lines are exchanged. Dropping it kills the program.
///
/// The program is the leader of its own process group. However it ends, the group is killed, and so are processes that left it if
/// [orphans are adopted](crate::adopt_orphans).
pub struct Dialogue {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<DialogueState>,
    limits: DialogueLimits,
    waker: Waker,
    ended: Condvar,
}

struct DialogueState {
    /// `None` once it is closed.
    stdin: Option<Arc<io::PipeWriter>>,
    unread: VecDeque<u8>,
    stderr: Tail,
    /// When the program is killed, if it is being ended.
    kill: Option<Deadline>,
    has_ended: bool,
}

impl Dialogue {
    /// Starts a program. The `stdin`, `streams` and `limits` of the invocation are ignored. With a trampoline, errors of starting the
    /// program itself are written to its stderr.
    ///
    /// # Errors
    /// The program, its pipes or the thread cannot be started.
    pub fn start(
        invocation: Invocation,
        trampoline: Option<Trampoline>,
        limits: DialogueLimits,
        listener: impl DialogueListener + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(DialogueState {
                stdin: None,
                unread: VecDeque::new(),
                stderr: Tail::new(limits.stderr),
                kill: None,
                has_ended: false,
            }),
            limits,
            waker: Waker::new()?,
            ended: Condvar::new(),
        });
        let (sender, start) = mpsc::sync_channel(1);
        let thread_shared = Arc::clone(&shared);
        // The system kills the program of a trampoline when the thread ends that started it, so that is the thread of the dialogue.
        thread::Builder::new().name("dialogue".to_owned()).spawn(move || {
            let deadline = Deadline::after(Duration::MAX);
            let result = start_with_retry(deadline, &Cancel::new(), || {
                DialoguePipes::start(&invocation, trampoline.as_ref())
            });
            drop(invocation);
            match result {
                Ok((pipes, stdin)) => {
                    thread_shared.state().stdin = Some(Arc::new(stdin));
                    let _ = sender.send(Ok(()));
                    let lines = Lines::new(limits.line);
                    let (shared, exited) = (thread_shared, None);
                    Exchange { shared, pipes, lines, listener, output_deadline: exited }.run();
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        })?;
        start.recv().map_err(|_| io::Error::other("the thread of the dialogue panicked"))??;
        Ok(Self { shared })
    }

    /// Sends a line, which has to end with a line break, without waiting for the program.
    ///
    /// # Errors
    /// The line is not sent.
    pub fn send(&self, line: &[u8]) -> Result<(), NotSent> {
        let mut state = self.shared.state();
        if state.kill.is_some() {
            return Err(NotSent::Closed);
        }
        let Some(stdin) = state.stdin.clone() else { return Err(NotSent::Closed) };
        if !state.unread.is_empty() {
            if state.unread.len() + line.len() > self.shared.limits.unread {
                return Err(NotSent::Full);
            }
            state.unread.extend(line);
            return Ok(());
        }
        let Ok(count) = write(&stdin, line) else {
            state.stdin = None;
            return Err(NotSent::Closed);
        };
        let rest = &line[count..];
        if !rest.is_empty() {
            state.unread.extend(rest);
            self.shared.waker.wake();
        }
        Ok(())
    }

    /// Closes stdin once the program has read everything, and kills the program if it is still running after `patience`. Does not
    /// wait for that.
    pub fn close(&self, patience: Duration) {
        let mut state = self.shared.state();
        state.kill =
            Some(state.kill.map_or(Deadline::after(patience), |kill| kill.or_sooner(patience)));
        self.shared.waker.wake();
    }

    /// Kills the program. Does not wait for its end.
    pub fn kill(&self) {
        self.close(Duration::ZERO);
    }

    /// Waits until the dialogue has ended, up to `patience`. Returns whether it has.
    pub fn wait(&self, patience: Duration) -> bool {
        let state = self.shared.state();
        let waited =
            self.shared.ended.wait_timeout_while(state, patience, |state| !state.has_ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.has_ended
    }

    /// Returns the number of bytes that the program has written to stderr so far.
    pub fn stderr_position(&self) -> u64 {
        self.shared.state().stderr.total()
    }

    /// Returns what the program has written to stderr since `position`, as far as it is kept.
    pub fn stderr_since(&self, position: u64) -> String {
        self.shared.state().stderr.since(position)
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, DialogueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes as much as the pipe takes. Returns the number of bytes written.
fn write(mut stdin: &io::PipeWriter, bytes: &[u8]) -> io::Result<usize> {
    let mut total = 0;
    while total < bytes.len() {
        match stdin.write(&bytes[total..]) {
            Ok(count) => total += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// The thread of a dialogue.
struct Exchange<L> {
    shared: Arc<Shared>,
    pipes: DialoguePipes,
    lines: Lines,
    listener: L,
    /// Until when the output is read after the program has exited or closed its stdout.
    output_deadline: Option<Deadline>,
}

/// The time for which output is still read after the program has exited while another process holds its stdout open; also
/// the time that a program has between closing its stdout and being killed.
const DRAIN: Duration = Duration::from_millis(100);

impl<L: DialogueListener> Exchange<L> {
    fn run(mut self) {
        let killed = loop {
            let (stdin, kill) = self.flush();
            if kill.is_some_and(Deadline::passed) {
                break true;
            }
            if self.pipes.has_exited() || self.pipes.stdout_is_closed() {
                let until = *self.output_deadline.get_or_insert_with(|| Deadline::after(DRAIN));
                let is_done = self.pipes.has_exited() && self.pipes.stdout_is_closed();
                if is_done || until.passed() {
                    break false;
                }
            }
            let timeout =
                [kill, self.output_deadline].into_iter().flatten().filter_map(Deadline::left).min();
            self.pipes.wait(stdin.as_deref(), &self.shared.waker, timeout);
            drop(stdin);
            self.read();
        };
        let has_exited = self.pipes.has_exited();
        let end = self.pipes.end();
        self.read();
        self.listener.ended(match end {
            end if has_exited => DialogueEnd::Process(end),
            _ if killed => DialogueEnd::Killed,
            _ => DialogueEnd::StdoutClosed,
        });
        let mut state = self.shared.state();
        state.has_ended = true;
        state.stdin = None;
        state.unread = VecDeque::new();
        self.shared.ended.notify_all();
    }

    /// Writes what the program reads. Returns its stdin if more has to be written, and when the program is killed.
    fn flush(&self) -> (Option<Arc<io::PipeWriter>>, Option<Deadline>) {
        let mut state = self.shared.state();
        while let Some(stdin) = state.stdin.clone()
            && !state.unread.is_empty()
        {
            match write(&stdin, state.unread.as_slices().0) {
                Ok(0) => return (Some(stdin), state.kill),
                Ok(count) => drop(state.unread.drain(..count)),
                Err(_) => state.stdin = None,
            }
        }
        state.unread.clear();
        if state.unread.capacity() > IDLE_CAPACITY {
            state.unread = VecDeque::new();
        }
        if state.kill.is_some() {
            state.stdin = None;
        }
        (None, state.kill)
    }

    /// Reads what is available. What the program wrote to stderr before a line is there before the line is passed on.
    fn read(&mut self) {
        let Self { shared, pipes, lines, listener, .. } = self;
        pipes.read_stderr(|bytes| shared.state().stderr.push(bytes));
        pipes.read_stdout(|bytes| lines.push(bytes, listener));
    }
}
