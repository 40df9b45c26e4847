//! Runs a program in a pseudoterminal: types input, and waits for output.
//!
//! The terminal is not a controlling terminal, so a typed Ctrl-C only reaches programs that read keys themselves. Use
//! [`PtySession::signal`] to send a signal.
//!
//! [`PtySession::wait_for`] reads what a program prints, in order. [`PtySession::wait_for_rows`] sees the screen as the user
//! does: what was erased is gone.

mod emulator;

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use emulator::Emulator;

/// Maximum time that a test waits for expected output.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Columns and rows: wide enough that expected lines do not wrap.
const SIZE: (u16, u16) = (200, 50);
/// The sequences around a region that the program redraws in place. Its content is not part of the printed output.
const REGION: (&str, &str) = ("?7l", "?7h");

/// A program in a terminal. Dropping it kills the program.
pub struct PtySession {
    child: Child,
    keyboard: File,
    screen: Arc<Screen>,
    /// Length of the output that was already waited for.
    position: usize,
}

struct Screen {
    display: Mutex<Display>,
    changes: Condvar,
}

struct Display {
    bytes: Vec<u8>,
    emulator: Emulator,
    is_over: bool,
}

#[expect(clippy::unwrap_used, reason = "a test fails if its terminal cannot be created")]
impl PtySession {
    /// Starts `command` in a terminal.
    ///
    /// # Panics
    /// The terminal cannot be created, or the program does not start.
    pub fn start(command: Command) -> Self {
        Self::start_sized(command, SIZE)
    }

    /// Starts `command` in a terminal of a number of columns and rows.
    ///
    /// # Panics
    /// The terminal cannot be created, or the program does not start.
    pub fn start_sized(mut command: Command, size: (u16, u16)) -> Self {
        let (keyboard, terminal) = open(size).unwrap();
        if command.get_envs().all(|(name, _)| name != "TERM") {
            command.env("TERM", "xterm-256color");
        }
        command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap());
        let child = command.stderr(terminal).spawn().unwrap();
        drop(command); // it holds the terminal open, which would hide the end of the program
        let display = Display { bytes: Vec::new(), emulator: Emulator::new(size), is_over: false };
        let screen = Arc::new(Screen { display: Mutex::new(display), changes: Condvar::new() });
        let (output, reader) = (keyboard.try_clone().unwrap(), Arc::clone(&screen));
        thread::spawn(move || reader.fill(output));
        Self { child, keyboard, screen, position: 0 }
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

    /// Waits for `question`, and enters `answer`. Returns what [`wait_for`](Self::wait_for) returns.
    pub fn answer(&mut self, question: &str, answer: &str) -> String {
        let output = self.wait_for(question);
        self.enter(answer);
        output
    }

    /// Waits until `text` is printed after the output of earlier waits. Returns the output up to it, without escape sequences and
    /// without regions that are redrawn in place.
    ///
    /// # Panics
    /// `text` does not appear within a minute, or the program ends before.
    pub fn wait_for(&mut self, text: &str) -> String {
        let start = Instant::now();
        let mut display = self.screen.lock();
        loop {
            let plain = plain(&display.bytes);
            let rest = plain.get(self.position..).unwrap_or_default();
            if let Some(at) = rest.find(text) {
                let until = rest[..at + text.len()].to_owned();
                self.position += until.len();
                return until;
            }
            assert!(!display.is_over, "it ended without {text:?}\n{plain}");
            assert!(start.elapsed() < TIMEOUT, "gave up waiting for {text:?}\n{plain}");
            display = self.screen.wait(display);
        }
    }

    /// Waits until the visible rows satisfy `is_expected`, and returns them, without spaces at their ends.
    ///
    /// # Panics
    /// They do not within a minute, or the program ends before.
    pub fn wait_for_rows(&self, is_expected: impl Fn(&[String]) -> bool) -> Vec<String> {
        let start = Instant::now();
        let mut display = self.screen.lock();
        loop {
            let rows = display.emulator.rows();
            if is_expected(&rows) {
                return rows;
            }
            let text = rows.join("\n");
            assert!(!display.is_over, "it ended without the expected rows\n{text}");
            assert!(start.elapsed() < TIMEOUT, "gave up waiting for rows\n{text}");
            display = self.screen.wait(display);
        }
    }

    /// Waits until a visible row contains `text`, and returns that row.
    ///
    /// # Panics
    /// None does within a minute, or the program ends before.
    pub fn wait_for_row(&self, text: &str) -> String {
        let find = |rows: &[String]| rows.iter().find(|row| row.contains(text)).cloned();
        let rows = self.wait_for_rows(|rows| find(rows).is_some());
        find(&rows).unwrap()
    }

    /// Returns the visible rows, without spaces at their ends.
    pub fn rows(&self) -> Vec<String> {
        self.screen.lock().emulator.rows()
    }

    /// Returns every line that is on the screen or has scrolled off it. Wrapped rows are joined.
    pub fn lines(&self) -> Vec<String> {
        self.screen.lock().emulator.lines()
    }

    /// Returns column and row of the cursor, from 0; `None` if it is hidden.
    pub fn cursor(&self) -> Option<(usize, usize)> {
        self.screen.lock().emulator.cursor()
    }

    /// Changes the size of the terminal to a number of columns and rows.
    ///
    /// # Panics
    /// The terminal is closed.
    pub fn resize(&self, size: (u16, u16)) {
        let mut display = self.screen.lock();
        display.emulator.resize(size);
        set_size(&self.keyboard, size).unwrap();
    }

    /// Returns the output so far, with escape sequences.
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().bytes).into_owned()
    }

    /// Returns true if the terminal echoes input, as a shell's does between programs.
    ///
    /// # Panics
    /// The terminal is closed.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.keyboard).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// Returns the program's process id.
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

    /// Waits until the program ends. Returns its exit code (`None` if a signal ended it), and every line that is on the screen or
    /// has scrolled off it.
    ///
    /// # Panics
    /// The program does not end within a minute, or it leaves the cursor hidden or not at the beginning of a line.
    pub fn end_lines(self) -> (Option<i32>, Vec<String>) {
        let screen = Arc::clone(&self.screen);
        let (code, _) = self.end();
        let display = screen.lock();
        let lines = display.emulator.lines();
        let cursor = display.emulator.cursor();
        assert!(matches!(cursor, Some((0, _))), "the cursor is at {cursor:?}\n{lines:?}");
        (code, lines)
    }

    /// Waits until the program ends. Returns its exit code (`None` if a signal ended it) and the output after earlier waits.
    ///
    /// # Panics
    /// The program does not end within a minute.
    pub fn end(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        let mut display = self.screen.lock();
        while !display.is_over {
            let plain = plain(&display.bytes);
            assert!(start.elapsed() < TIMEOUT, "gave up waiting for its end\n{plain}");
            display = self.screen.wait(display);
        }
        let rest = plain(&display.bytes).get(self.position..).unwrap_or_default().to_owned();
        drop(display);
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
            let mut display = self.lock();
            display.bytes.extend_from_slice(&buffer[..count]);
            display.emulator.feed(&buffer[..count]);
            display.is_over = count == 0;
            self.changes.notify_all();
            if display.is_over {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Display> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for more output, for at most half a second.
    fn wait<'s>(&'s self, display: MutexGuard<'s, Display>) -> MutexGuard<'s, Display> {
        let moment = Duration::from_millis(500);
        self.changes.wait_timeout(display, moment).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Opens a terminal. Returns the side of the user and the side of the program.
fn open(size: (u16, u16)) -> io::Result<(File, File)> {
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
    set_size(&terminal, size)?;
    Ok((File::from(keyboard), terminal))
}

fn set_size(terminal: &File, (columns, rows): (u16, u16)) -> io::Result<()> {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}

/// Returns the output without escape sequences, carriage returns and regions that are redrawn. An incomplete sequence at the end
/// is left out.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    let mut is_in_region = false;
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => {
                if characters.next() == Some('[') {
                    let sequence = characters.as_str();
                    is_in_region = sequence.starts_with(REGION.0)
                        || is_in_region && !sequence.starts_with(REGION.1);
                    characters.find(|c| ('\x40'..='\x7e').contains(c));
                }
            }
            '\r' => {}
            _ if is_in_region => {}
            character => plain.push(character),
        }
    }
    plain
}
