//! Questions in a chat. They go through the line editor, so that Ctrl-C stops the answer that a question belongs to.

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};
use tenter_agent::permission::{Answer, Asker};
use tenter_protocol::ToolCall;

use super::editor::waker;
use crate::render::{ASK_PROMPT, put_question, read_answer};
use crate::signals::Interrupts;

/// Puts a hook's `ask` to the person (R30).
pub(super) struct AtPrompt {
    interrupts: Interrupts,
}

impl AtPrompt {
    pub(super) fn new(interrupts: Interrupts) -> Self {
        Self { interrupts }
    }
}

impl Asker for AtPrompt {
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> Answer {
        put_question(hook, reason, call);
        question(ASK_PROMPT, &self.interrupts).map_or(Answer::No, |line| read_answer(&line))
    }
}

/// The line that is typed behind `prompt`; none where the person closed or interrupted the dialogue.
pub(super) fn question(prompt: &str, interrupts: &Interrupts) -> Option<String> {
    let mut editor = Editor::<(), _>::with_history(Config::default(), MemHistory::new()).ok()?;
    let _waker = waker(&mut editor);
    match interrupts.while_reading(|| editor.readline(prompt))? {
        Ok(line) => Some(line),
        Err(ReadlineError::Interrupted) => {
            interrupts.interrupt();
            None
        }
        Err(_closed) => None,
    }
}
