//! Runs a program in a pseudoterminal: types input, and waits for output.
//!
//! The terminal is not a controlling terminal, so a typed Ctrl-C only reaches programs that read keys themselves. Use
//! [`PtySession::signal`] to send a signal.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Maximum time that a test waits for expected output.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Columns and rows: wide enough that expected lines do not wrap.
const SIZE: (u16, u16) = (200, 50);

/// A program in a terminal. Dropping it kills the program.
pub struct PtySession {
    child: Child,
    keyboard: File,
    screen: Arc<Screen>,
    /// Length of the output that was already waited for.
    seen: usize,
}

#[derive(Default)]
struct Screen {
    shown: Mutex<Shown>,
    changed: Condvar,
}

#[derive(Default)]
struct Shown {
    bytes: Vec<u8>,
    is_over: bool,
}

#[expect(clippy::unwrap_used, reason = "a test fails if its terminal cannot be created")]
impl PtySession {
    /// Starts `command` in a terminal.
    ///
    /// # Panics
    /// The terminal cannot be created, or the program does not start.
    pub fn start(mut command: Command) -> Self {
        let (keyboard, terminal) = open().unwrap();
        command.env("TERM", "xterm-256color");
        command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap());
        let child = command.stderr(terminal).spawn().unwrap();
        drop(command); // it holds the terminal open, which would hide the end of the program
        let screen = Arc::new(Screen::default());
        let (output, reader) = (keyboard.try_clone().unwrap(), Arc::clone(&screen));
        thread::spawn(move || reader.fill(output));
        Self { child, keyboard, screen, seen: 0 }
    }

    /// Types `text`; see also [`enter`](Self::enter).
    ///
    /// # Panics
    /// The terminal is closed.
    pub fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Types `line` and the Enter key.
    pub fn enter(&mut self, line: &str) {
        self.type_in(&format!("{line}\r"));
    }

    /// Waits until `text` is shown after the output of earlier waits. Returns the output up to it, without escape sequences.
    ///
    /// # Panics
    /// `text` does not appear within a minute, or the program ends before.
    pub fn wait_for(&mut self, text: &str) -> String {
        let start = Instant::now();
        let mut shown = self.screen.lock();
        loop {
            let plain = plain(&shown.bytes);
            let rest = plain.get(self.seen..).unwrap_or_default();
            if let Some(at) = rest.find(text) {
                let until = rest[..at + text.len()].to_owned();
                self.seen += until.len();
                return until;
            }
            assert!(!shown.is_over, "it ended without {text:?}\n{plain}");
            assert!(start.elapsed() < TIMEOUT, "gave up waiting for {text:?}\n{plain}");
            shown = self.screen.wait(shown);
        }
    }

    /// The output so far, with escape sequences.
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().bytes).into_owned()
    }

    /// Whether the terminal echoes input, as a shell's does between programs.
    ///
    /// # Panics
    /// The terminal is closed.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.keyboard).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// The program's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the program.
    ///
    /// # Panics
    /// The program has ended.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits until the program ends. Returns its exit code (`None` if a signal ended it) and the output after earlier waits.
    ///
    /// # Panics
    /// The program does not end within a minute.
    pub fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        let mut shown = self.screen.lock();
        while !shown.is_over {
            let plain = plain(&shown.bytes);
            assert!(start.elapsed() < TIMEOUT, "gave up waiting for its end\n{plain}");
            shown = self.screen.wait(shown);
        }
        let rest = plain(&shown.bytes).get(self.seen..).unwrap_or_default().to_owned();
        drop(shown);
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for PtySession {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Debug for PtySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(&self.screen.lock().bytes))
    }
}

impl Screen {
    /// Reads the output of the program until the terminal is closed.
    fn fill(&self, mut output: File) {
        let mut buffer = [0; 4096];
        loop {
            let count = match output.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.unwrap_or(0),
            };
            let mut shown = self.lock();
            shown.bytes.extend_from_slice(&buffer[..count]);
            shown.is_over = count == 0;
            self.changed.notify_all();
            if shown.is_over {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for more output, for at most half a second.
    fn wait<'s>(&'s self, shown: MutexGuard<'s, Shown>) -> MutexGuard<'s, Shown> {
        let moment = Duration::from_millis(500);
        self.changed.wait_timeout(shown, moment).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Opens a terminal. Returns the side of the user and the side of the program.
fn open() -> io::Result<(File, File)> {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&keyboard)?;
    unlockpt(&keyboard)?;
    let name = ptsname(&keyboard, Vec::new())?;
    let path = std::ffi::OsStr::from_bytes(name.as_bytes());
    let flags = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap_or(0);
    let terminal = std::os::unix::fs::OpenOptionsExt::custom_flags(
        OpenOptions::new().read(true).write(true),
        flags,
    )
    .open(path)?;
    let (columns, rows) = SIZE;
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size)?;
    Ok((File::from(keyboard), terminal))
}

/// The output without escape sequences and carriage returns. An incomplete sequence at the end is left out.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => {
                if characters.next() == Some('[') {
                    characters.find(|c| ('\x40'..='\x7e').contains(c));
                }
            }
            '\r' => {}
            character => plain.push(character),
        }
    }
    plain
}
