//! Questions of the agent in a chat. They use the line editor, so that Ctrl-C stops the answer that a question belongs to.

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
    ASK_PROMPT, WRITE_PROMPT, answer_question, ask_permission, put_question, put_write_question,
    read_answer,
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
            let answer = self.dialogue.question(ASK_PROMPT);
            answer.map_or(PermissionAnswer::No, |line| read_answer(&line))
        })
    }

    fn permits(&self, request: &PermissionRequest<'_>) -> PermissionReply {
        screen().suspended(|| ask_permission(request, &mut |prompt| self.dialogue.question(prompt)))
    }

    fn answer(&self, hook: &str, question: &Question, cancel: &Cancel) -> Result<String, NoAnswer> {
        screen().suspended(|| {
            answer_question(hook, question, cancel, &mut |prompt| self.dialogue.question(prompt))
        })
    }

    fn agrees_to_write(&self, place: &Path, file: &Path) -> bool {
        screen().suspended(|| {
            put_write_question(place, file);
            let answer = self.dialogue.question(WRITE_PROMPT);
            answer.is_some_and(|line| read_answer(&line).allows())
        })
    }
}
