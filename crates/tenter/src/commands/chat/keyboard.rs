//! The keyboard of a chat while nobody reads from it. What is typed meanwhile stays in the terminal, unseen and as it was
//! typed, until the next message is read; then it is as if it were typed only now.
//!
//! It refuses to let a key that was pressed before a question answer it.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::signals::Interrupts;

/// Has the terminal mark what is pasted, or not any more.
const MARK_PASTES: &str = "\x1b[?2004h";
const MARK_NO_PASTES: &str = "\x1b[?2004l";
/// Bytes that are read at once.
const CHUNK: usize = 4096;

/// The terminal's keyboard. A copy is the same; when the last goes, the terminal is as it was before.
#[derive(Clone)]
pub(super) struct Keyboard(Arc<Held>);

struct Held {
    /// How the terminal was, and is to be again.
    before: Termios,
    /// What was typed before something else was asked, or before an answer was stopped: text for the next message.
    aside: Mutex<String>,
}

impl Keyboard {
    /// Holds what is typed, until it goes. A process that is left at once has the terminal restored, too.
    ///
    /// # Errors
    /// When the terminal does not say how it is.
    pub(super) fn hold(interrupts: &Interrupts) -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let keyboard = Self(Arc::new(Held { before: before.clone(), aside: Mutex::default() }));
        interrupts.when_leaving(move || restore(&before));
        keyboard.hold_again();
        Ok(keyboard)
    }

    /// Holds again, after an editor has read.
    pub(super) fn hold_again(&self) {
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

    /// Puts what was typed so far aside: text for the next message, but nothing that is sent unseen.
    pub(super) fn set_aside(&self) {
        let mut typed = Vec::new();
        let mut chunk = [0; CHUNK];
        while is_waiting() {
            match rustix::io::read(io::stdin(), &mut chunk) {
                Ok(count) if count > 0 => typed.extend_from_slice(&chunk[..count]),
                _ => break,
            }
        }
        self.aside().push_str(&text_of(&typed));
    }

    /// What was put aside, for the editor that it is typed in now.
    pub(super) fn take_aside(&self) -> String {
        std::mem::take(&mut *self.aside()).trim_end_matches('\n').to_owned()
    }

    fn aside(&self) -> MutexGuard<'_, String> {
        self.0.aside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        restore(&self.before);
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

/// Whether a key was pressed that nobody has read.
fn is_waiting() -> bool {
    let stdin = io::stdin();
    let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut keys, Some(&at_once)), Ok(1)) && keys[0].revents() == PollFlags::IN
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
