//! Reads lines from the user of a chat, through a line editor.

use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{Config, Editor, ExternalPrinter, Helper};

use super::keyboard::Keyboard;
use crate::signals::Interrupts;

/// What a question is put through.
#[derive(Clone)]
pub(super) struct Dialogue {
    pub(super) interrupts: Interrupts,
    /// None where the terminal can move no cursor.
    pub(super) keyboard: Option<Keyboard>,
}

impl Dialogue {
    /// The line that is typed behind `prompt`; none where the person closed or interrupted the dialogue. What was typed
    /// before is no answer.
    pub(super) fn question(&self, prompt: &str) -> Option<String> {
        self.keyboard.iter().for_each(Keyboard::set_aside);
        let mut editor =
            Editor::<(), _>::with_history(Config::default(), MemHistory::new()).ok()?;
        let _waker = waker(&mut editor);
        match self.read(|| editor.readline(prompt))? {
            Ok(line) => Some(line),
            Err(ReadlineError::Interrupted) => {
                self.interrupts.interrupt();
                None
            }
            Err(_closed) => None,
        }
    }

    /// Runs a line editor; none where the process is to end.
    pub(super) fn read<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let read = || self.interrupts.while_reading(read);
        match &self.keyboard {
            Some(keyboard) => keyboard.lend(read),
            None => read(),
        }
    }
}

/// While it is held, a signal wakes an editor that waits for a key.
pub(super) type Waker = Box<dyn ExternalPrinter>;

/// The editor watches for signals only where it also watches for text of others. A terminal that can move no cursor has no
/// such thing.
pub(super) fn waker<H: Helper, I: History>(editor: &mut Editor<H, I>) -> Option<Waker> {
    editor.create_external_printer().ok().map(|printer| Box::new(printer) as Waker)
}
