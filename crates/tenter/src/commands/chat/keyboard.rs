//! The keyboard of a chat while nobody reads from it. What is typed meanwhile stays in the terminal, unseen and as it was
//! typed, until the next message is read; then it is as if it were typed only now.
//!
//! It refuses to let a key that was pressed before a question answer it.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::signals::Interrupts;

/// Has the terminal mark what is pasted, or not any more.
const MARK_PASTES: &str = "\x1b[?2004h";
const MARK_NO_PASTES: &str = "\x1b[?2004l";
/// The marks.
const PASTE_BEGINS: &str = "\x1b[200~";
const PASTE_ENDS: &str = "\x1b[201~";
/// How long the rest of a paste is waited for.
const PASTE: Duration = Duration::from_secs(1);
/// Bytes that are read at once.
const CHUNK: usize = 4096;
/// Bytes that may wait in the terminal. When it is full (Linux: 4095 bytes) no key gets through, not even Ctrl-C.
const WAITING: u64 = 2048;
/// How often it is looked how many wait.
const LOOK: Duration = Duration::from_millis(200);

/// The terminal's keyboard. A copy is the same; when the last goes, the terminal is as it was before.
#[derive(Clone)]
pub(super) struct Keyboard(Arc<Held>);

struct Held {
    /// How the terminal was, and is to be again.
    before: Termios,
    aside: Arc<Mutex<Aside>>,
}

/// What was taken out of the terminal: text for the next message.
#[derive(Default)]
struct Aside {
    keys: Vec<u8>,
    /// Whether an editor reads: the keys are its own.
    lent: bool,
    /// Whether the terminal was about to be full: what comes then belongs to the same text.
    overflown: bool,
}

impl Keyboard {
    /// Holds what is typed, until it goes. A process that is left at once has the terminal restored, too.
    ///
    /// # Errors
    /// When the terminal does not say how it is.
    pub(super) fn hold(interrupts: &Interrupts) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let aside = Arc::default();
        let watched = Arc::downgrade(&aside);
        thread::Builder::new().spawn(move || watch(&watched))?;
        let keyboard = Self(Arc::new(Held { before: before.clone(), aside }));
        interrupts.when_leaving(move || restore(&before));
        keyboard.hold_again();
        Ok(keyboard)
    }

    fn hold_again(&self) {
        let mut held = self.0.before.clone();
        let kept = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN;
        held.local_modes.remove(kept);
        // Ctrl-C stops an answer, and not the message that was being typed.
        held.local_modes.insert(LocalModes::NOFLSH);
        held.input_modes.remove(InputModes::ICRNL);
        held.special_codes[SpecialCodeIndex::VMIN] = 1;
        held.special_codes[SpecialCodeIndex::VTIME] = 0;
        change(&held, MARK_PASTES);
    }

    /// Runs an editor, whose keys are those that wait and those that come.
    pub(super) fn lend<T>(&self, read: impl FnOnce() -> T) -> T {
        self.aside().lent = true;
        let read = read();
        self.hold_again();
        self.aside().lent = false;
        read
    }

    /// Puts what was typed so far aside: text for the next message, but nothing that is sent unseen.
    pub(super) fn set_aside(&self) {
        self.aside().take_waiting();
    }

    /// What was put aside, for the editor that it is typed in now.
    pub(super) fn take_aside(&self) -> String {
        let mut aside = self.aside();
        if aside.overflown {
            aside.take_waiting();
        }
        aside.overflown = false;
        text_of(&std::mem::take(&mut aside.keys)).trim_end_matches('\n').to_owned()
    }

    fn aside(&self) -> MutexGuard<'_, Aside> {
        self.0.aside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

impl Aside {
    /// Takes the keys that wait, and a paste to its end.
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

/// Keeps the terminal from becoming full, as long as there is a keyboard.
fn watch(aside: &Weak<Mutex<Aside>>) {
    while let Some(aside) = aside.upgrade() {
        let mut aside = aside.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = || ioctl_fionread(io::stdin()).is_ok_and(|waiting| waiting >= WAITING);
        if !aside.lent && (aside.overflown || is_full()) {
            aside.overflown = true;
            aside.take_waiting();
        }
        drop(aside);
        thread::sleep(LOOK);
    }
}

fn restore(before: &Termios) {
    change(before, MARK_NO_PASTES);
}

/// A terminal that went away needs neither.
fn change(modes: &Termios, pastes: &str) {
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
    let mut stdout = io::stdout();
    let _ = stdout.write_all(pastes.as_bytes());
    let _ = stdout.flush();
}

/// Whether there is a key that nobody has read, or comes in this time.
fn is_waiting(time: Duration) -> bool {
    let stdin = io::stdin();
    let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
    let time = Timespec::try_from(time).ok();
    matches!(poll(&mut keys, time.as_ref()), Ok(1)) && keys[0].revents() == PollFlags::IN
}

/// The text that keys make: Backspace takes a character back, Enter of any kind begins a line, other keys make none.
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
    fn keys_make_text() {
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
