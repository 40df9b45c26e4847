//! The keyboard of a chat while no line editor reads from it. What the user types stays in the terminal, not echoed, until the
//! next message is read, and becomes the beginning of that message.
//!
//! A key that was pressed before a question never answers it.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use tenter_terminal::signals::Interrupts;

/// Turns bracketed paste on and off.
const MARK_PASTES: &str = "\x1b[?2004h";
const MARK_NO_PASTES: &str = "\x1b[?2004l";
/// The sequences that the terminal sends around a paste.
const PASTE_BEGINS: &str = "\x1b[200~";
const PASTE_ENDS: &str = "\x1b[201~";
/// Maximum wait for the rest of a paste.
const PASTE: Duration = Duration::from_secs(1);
/// Maximum number of bytes per read.
const CHUNK: usize = 4096;
/// Number of unread bytes at which the terminal's buffer is emptied. When it is full (Linux: 4095 bytes) it drops every key, even
/// Ctrl-C.
const FULL: u64 = 2048;
/// Interval between checks of the terminal's buffer.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The terminal's keyboard. Clones share it; when the last is dropped, the terminal is restored.
#[derive(Clone)]
pub(super) struct Keyboard(Arc<SavedTerminal>);

struct SavedTerminal {
    /// The terminal's modes before.
    before: Termios,
    typed: Arc<Mutex<TypedKeys>>,
}

/// Keys that were read from the terminal for the next message.
#[derive(Default)]
struct TypedKeys {
    keys: Vec<u8>,
    /// True if a line editor reads the keys.
    lent: bool,
    /// True if the terminal's buffer was emptied: later keys belong to the same text.
    overflowed: bool,
}

impl Keyboard {
    /// Holds back what is typed until it is dropped. The terminal is also restored if a signal ends the process.
    ///
    /// # Errors
    /// The terminal's modes cannot be read.
    pub(super) fn hold(interrupts: &Interrupts) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let typed = Arc::default();
        let watched = Arc::downgrade(&typed);
        thread::Builder::new().spawn(move || watch(&watched))?;
        let keyboard = Self(Arc::new(SavedTerminal { before: before.clone(), typed }));
        interrupts.on_exit(move || restore(&before));
        keyboard.hold_again();
        Ok(keyboard)
    }

    fn hold_again(&self) {
        let mut modes = self.0.before.clone();
        let line_modes =
            LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN;
        modes.local_modes.remove(line_modes);
        // Ctrl-C stops the answer and keeps the message that is being typed.
        modes.local_modes.insert(LocalModes::NOFLSH);
        modes.input_modes.remove(InputModes::ICRNL);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        change(&modes, MARK_PASTES);
    }

    /// Runs a line editor, which reads unread and new keys.
    pub(super) fn lend<T>(&self, read: impl FnOnce() -> T) -> T {
        self.typed_keys().lent = true;
        let read = read();
        self.hold_again();
        self.typed_keys().lent = false;
        read
    }

    /// Runs another program, which gets the terminal as it was before the chat, with the unread keys.
    pub(super) fn release<T>(&self, run: impl FnOnce() -> T) -> T {
        self.lend(|| {
            restore(&self.0.before);
            run()
        })
    }

    /// Sets aside what was typed so far as text for the next message, which the user sees before sending it.
    pub(super) fn set_aside(&self) {
        self.typed_keys().take_waiting();
    }

    /// Returns the keys that were set aside, for the line editor to begin with.
    pub(super) fn take_typed(&self) -> String {
        let mut typed = self.typed_keys();
        if typed.overflowed {
            typed.take_waiting();
        }
        typed.overflowed = false;
        text_of(&std::mem::take(&mut typed.keys)).trim_end_matches('\n').to_owned()
    }

    fn typed_keys(&self) -> MutexGuard<'_, TypedKeys> {
        self.0.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SavedTerminal {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

impl TypedKeys {
    /// Reads the unread keys, and a paste to its end.
    fn take_waiting(&mut self) {
        let mut chunk = [0; CHUNK];
        while is_waiting(if self.is_in_paste() { PASTE } else { Duration::ZERO }) {
            match rustix::io::read(io::stdin(), &mut chunk) {
                Ok(count) if count > 0 => self.keys.extend_from_slice(&chunk[..count]),
                _ => break,
            }
        }
    }

    fn is_in_paste(&self) -> bool {
        let last = |mark: &str| self.keys.windows(mark.len()).rposition(|at| at == mark.as_bytes());
        last(PASTE_BEGINS) > last(PASTE_ENDS)
    }
}

/// Keeps the terminal's buffer from becoming full, as long as the keyboard exists.
fn watch(typed: &Weak<Mutex<TypedKeys>>) {
    while let Some(shared) = typed.upgrade() {
        let mut keys = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = || ioctl_fionread(io::stdin()).is_ok_and(|waiting| waiting >= FULL);
        if !keys.lent && (keys.overflowed || is_full()) {
            keys.overflowed = true;
            keys.take_waiting();
        }
        drop(keys);
        thread::sleep(POLL_INTERVAL);
    }
}

fn restore(before: &Termios) {
    change(before, MARK_NO_PASTES);
}

/// Sets the terminal's modes. Errors are ignored: the terminal may be gone.
fn change(modes: &Termios, pastes: &str) {
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
    let mut stdout = io::stdout();
    let _ = stdout.write_all(pastes.as_bytes());
    let _ = stdout.flush();
}

/// Checks whether there is an unread key, or one comes within `time`.
fn is_waiting(time: Duration) -> bool {
    let stdin = io::stdin();
    let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
    let time = Timespec::try_from(time).ok();
    matches!(poll(&mut keys, time.as_ref()), Ok(1)) && keys[0].revents() == PollFlags::IN
}

/// The text of keys: Backspace removes a character, Enter begins a line, other control keys are ignored.
fn text_of(keys: &[u8]) -> String {
    let keys = String::from_utf8_lossy(keys);
    let mut text = String::with_capacity(keys.len());
    let mut keys = keys.chars();
    while let Some(key) = keys.next() {
        match key {
            '\r' | '\n' => text.push('\n'),
            '\t' => text.push('\t'),
            '\x08' | '\x7f' => drop(text.pop()),
            '\x1b' => match keys.next() {
                Some('\r' | '\n') => text.push('\n'),
                Some('[') => drop(keys.find(|key| ('\x40'..='\x7e').contains(key))),
                Some('O') => drop(keys.next()),
                _ => {}
            },
            key if key.is_control() => {}
            key => text.push(key),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_text() {
        for (keys, text) in [
            ("one\rtwo\n", "one\ntwo\n"),
            ("onf\x7fe", "one"),
            ("\x7f", ""),
            ("a\x1b\rb", "a\nb"),
            ("a\x1b[Db\x1bOHc\x1b[200~d\re\x1b[201~", "abcd\ne"),
            ("a\x04\x15\tb\x1b", "a\tb"),
            ("Größe 日本", "Größe 日本"),
        ] {
            assert_eq!(text_of(keys.as_bytes()), text, "{keys:?}");
        }
    }
}
