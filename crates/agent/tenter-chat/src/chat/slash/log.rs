//! `/log`: what hooks did in this conversation.

use tenter_commands::log;
use tenter_terminal::{Failure, ui};

use super::{CommandContext, SlashResult};

/// Shows the journal of this conversation, or its newest records.
pub(super) fn log(context: &mut CommandContext, argument: &str) -> SlashResult {
    let limit = Some(argument).filter(|argument| !argument.is_empty()).map(log::count).transpose();
    let limit =
        limit.map_err(|error| Failure::usage(error).help("/log 20 shows the newest 20 records"))?;
    let chat = &*context.chat;
    let lines = log::list_conversation(chat.project.env, context.session.conversation_id(), limit)?;
    if lines.is_empty() {
        ui::note("No hook has run in this conversation yet.");
    } else {
        chat.dialogue.page(&chat.project, &lines);
    }
    Ok(None)
}
