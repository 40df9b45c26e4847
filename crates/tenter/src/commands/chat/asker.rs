//! Questions in a chat. They go through the line editor, so that Ctrl-C stops the answer that a question belongs to.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};
use tenter_agent::permission::{Asker, PermissionAnswer};
use tenter_protocol::ToolCall;

use super::editor::waker;
use super::keyboard::Keyboard;
use crate::render::{ASK_PROMPT, WRITE_PROMPT, put_question, put_write_question, read_answer};
use crate::signals::Interrupts;

/// Puts a hook's `ask` to the user (R30), and whether a protected place may be changed (R76).
pub(super) struct AtPrompt {
    dialogue: Dialogue,
    /// Held while a question is put: calls run at once, and there is one terminal.
    asking: Mutex<()>,
}

impl AtPrompt {
    pub(super) fn new(dialogue: Dialogue) -> Self {
        Self { dialogue, asking: Mutex::default() }
    }
}

impl Asker for AtPrompt {
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer {
        let _alone = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        put_question(hook, reason, call);
        self.dialogue.question(ASK_PROMPT).map_or(PermissionAnswer::No, |line| read_answer(&line))
    }

    fn agrees_to_write(&self, place: &Path, file: &Path) -> bool {
        let _alone = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        put_write_question(place, file);
        let answer = self.dialogue.question(WRITE_PROMPT);
        answer.is_some_and(|line| read_answer(&line).allows())
    }
}

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
