//! Questions of the agent in a chat. A key answers them, or a line that the line editor reads. Ctrl-C stops the answer
//! that a question belongs to.

use std::path::Path;

use tenter_agent::permission::{
    Asker, NoAnswer, PermissionAnswer, PermissionReply, PermissionRequest,
};
use tenter_proc::Cancel;
use tenter_protocol::ToolCall;
use tenter_protocol::runtime::Question;
use tenter_terminal::screen::screen;

use super::dialogue::ChatDialogue;
use crate::render::{
    ASK_LETTERS, ASK_PROMPT, WRITE_LETTERS, WRITE_PROMPT, answer_of, answer_question,
    ask_permission, put_question, put_write_question,
};

/// Asks the user on behalf of hooks (R30), and before a protected path is changed (R76).
pub(super) struct ChatAsker {
    dialogue: ChatDialogue,
}

impl ChatAsker {
    pub(super) fn new(dialogue: ChatDialogue) -> Self {
        Self { dialogue }
    }
}

impl Asker for ChatAsker {
    fn ask(&self, hook: &str, reason: &str, call: &ToolCall) -> PermissionAnswer {
        screen().suspended(|| {
            put_question(hook, reason, call);
            answer_of(self.dialogue.key_question(ASK_PROMPT, ASK_LETTERS))
        })
    }

    fn permits(&self, request: &PermissionRequest<'_>) -> PermissionReply {
        let mut read_key = |prompt: &str, letters| self.dialogue.key_question(prompt, letters);
        let mut read = |prompt: &str| self.dialogue.question(prompt);
        screen().suspended(|| ask_permission(request, &mut read_key, &mut read))
    }

    fn answer(&self, hook: &str, question: &Question, cancel: &Cancel) -> Result<String, NoAnswer> {
        screen().suspended(|| {
            answer_question(hook, question, cancel, &mut |prompt| self.dialogue.question(prompt))
        })
    }

    fn agrees_to_write(&self, place: &Path, file: &Path) -> bool {
        screen().suspended(|| {
            put_write_question(place, file);
            answer_of(self.dialogue.key_question(WRITE_PROMPT, WRITE_LETTERS)).allows()
        })
    }
}
