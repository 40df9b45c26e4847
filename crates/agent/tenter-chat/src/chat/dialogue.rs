//! Reads lines from the user of a chat, through a line editor.

use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{Config, Editor, ExternalPrinter, Helper};
use tenter_commands::project::Project;
use tenter_terminal::question::letter_of;
use tenter_terminal::screen::screen;
use tenter_terminal::signals::{self, Interrupts};
use tenter_terminal::{notify, pager, ui};

use super::composer::TypedText;
use super::keyboard::{KeyAnswer, Keyboard, SentAhead};

/// Number of rows of the screen that a text leaves free: for the command, and for the next prompt.
const FREE_ROWS: usize = 3;

/// Reads lines through a line editor. Clones share the terminal.
#[derive(Clone)]
pub(super) struct ChatDialogue {
    pub(super) interrupts: Interrupts,
    /// `None` if the terminal cannot move its cursor.
    pub(super) keyboard: Option<Keyboard>,
}

impl ChatDialogue {
    /// Asks a question and returns the typed line; `None` if the user closed or interrupted it. Keys that were typed before are
    /// not part of the answer.
    pub(super) fn question(&self, prompt: &str) -> Option<String> {
        self.keyboard.iter().for_each(Keyboard::set_aside);
        let mut editor =
            Editor::<(), _>::with_history(Config::default(), MemHistory::new()).ok()?;
        let _waker = waker(&mut editor);
        let read = || {
            notify::question(prompt);
            editor.readline(prompt)
        };
        match self.read(read)? {
            Ok(line) => Some(line),
            Err(ReadlineError::Interrupted) => {
                self.interrupts.interrupt();
                None
            }
            Err(_closed) => None,
        }
    }

    /// Asks a question that one of `letters` answers; `None` if the user closed or interrupted it. Without a keyboard that reads
    /// single keys, a line is read.
    pub(super) fn key_question(&self, prompt: &str, letters: &'static str) -> Option<char> {
        let Some(keyboard) = &self.keyboard else {
            return std::iter::from_fn(|| self.question(prompt))
                .find_map(|line| letter_of(&line, letters));
        };
        let signal = signals::received();
        match keyboard.ask(prompt, letters, &|| signals::received() != signal) {
            KeyAnswer::Letter(letter) => Some(letter),
            KeyAnswer::Closed => None,
            KeyAnswer::Interrupted => {
                self.interrupts.interrupt();
                None
            }
        }
    }

    /// Shows lines: in the user's pager if they do not fit on the screen.
    pub(super) fn page(&self, project: &Project, lines: &[String]) {
        let text = lines.join("\n") + "\n";
        let is_long = lines.len() + FREE_ROWS > ui::rows();
        let pager = pager::wanted(project.env).filter(|_| is_long);
        let was_shown = pager.is_some_and(|pager| {
            let (vars, text_to_show) = (project.program_environment(), ui::for_stdout(&text));
            let show =
                || pager::show_under(&self.interrupts, project.env, pager, vars, &text_to_show);
            match &self.keyboard {
                Some(keyboard) => keyboard.release(show),
                None => show(),
            }
        });
        if !was_shown {
            ui::out_piece(text);
        }
    }

    /// Runs another program, which has the terminal as it was before the chat.
    pub(super) fn lend_terminal<T>(&self, run: impl FnOnce() -> T) -> T {
        let run = || self.interrupts.while_away(run);
        screen().suspended(|| match &self.keyboard {
            Some(keyboard) => keyboard.release(run),
            None => run(),
        })
    }

    /// Runs a line editor, which has the screen for itself; `None` if the process should end.
    fn read<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let read = || self.interrupts.while_reading(read);
        screen().suspended(|| match &self.keyboard {
            Some(keyboard) => keyboard.lend(read),
            None => read(),
        })
    }

    /// Runs a line editor, which has the screen for itself and begins with `draft` and with what was typed meanwhile; `None` if
    /// the process should end.
    ///
    /// # Errors
    /// A line was sent ahead. `draft` is then the beginning of the text after it.
    pub(super) fn edit<T>(
        &self,
        draft: &TypedText,
        read: impl FnOnce(&str, &str) -> T,
    ) -> Result<Option<T>, SentAhead> {
        let read = |head: &str, tail: &str| self.interrupts.while_reading(|| read(head, tail));
        screen().suspended(|| match &self.keyboard {
            Some(keyboard) => keyboard.edit(draft, read),
            None => Ok(read(&draft.head, &draft.tail)),
        })
    }
}

/// Lets a signal wake a line editor that waits for a key, as long as it exists.
pub(super) type Waker = Box<dyn ExternalPrinter>;

/// Creates a waker. The line editor only watches for signals if it has an external printer, which does not exist on a terminal that
/// cannot move its cursor.
pub(super) fn waker<H: Helper, I: History>(editor: &mut Editor<H, I>) -> Option<Waker> {
    editor.create_external_printer().ok().map(|printer| Box::new(printer) as Waker)
}
