//! `/resume`, `/new` and `/clear`.

use std::path::Path;

use tenter_agent::Agent;
use tenter_agent::store::{ListQuery, StoreError, Summary};
use tenter_base::one_line;
use tenter_terminal::{Failure, ui};

use super::{CommandContext, SlashResult};
use crate::agent::Recap;
use crate::chat::{ChatEnd, SessionChange, recap};
use crate::conversation;

/// Maximum number of listed conversations.
const LISTED: usize = 200;

/// Continues another conversation, in a new session: the one with this id, or one that the user chooses.
pub(super) fn resume(context: &mut CommandContext, prefix: &str) -> SlashResult {
    let present = context.session.conversation_id();
    let store = &context.agent.store;
    let id = if prefix.is_empty() {
        let Some(id) = chosen(context)? else { return Ok(None) };
        id
    } else {
        store.find(prefix).map_err(|error| {
            Failure::caused_by(error).help("/resume lists the conversations of this project")
        })?
    };
    if id == present {
        return Err(Failure::usage("this is the current conversation"));
    }
    let conversation = store.load(&id).map_err(Failure::caused_by)?;
    ui::note(format!("Continuing: {}", one_line(&conversation.summary.preview, 80)));
    Recap::new(store, &conversation).iter().for_each(recap::show);
    Ok(Some(ChatEnd::Change(SessionChange::Conversation(Box::new(conversation)))))
}

/// Lets the user choose another conversation of this project.
fn chosen(context: &CommandContext) -> Result<Option<String>, Failure> {
    let project = context.chat.project.root();
    let present = context.session.conversation_id();
    let mut others = recent(context.agent, project).map_err(Failure::caused_by)?;
    others.retain(|summary| summary.id != present);
    if others.is_empty() {
        ui::note("This project has no other conversation yet.");
        return Ok(None);
    }
    let index = context.chat.dialogue.lend_terminal(|| conversation::pick(&others));
    Ok(index.map(|index| others.swap_remove(index).id))
}

/// Starts a new conversation, in a new session.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn new(_context: &mut CommandContext, _argument: &str) -> SlashResult {
    ui::note("Started a new conversation.");
    Ok(Some(ChatEnd::Change(SessionChange::New)))
}

/// Returns the conversations of this project, the most recent first.
pub(in crate::chat) fn recent(agent: &Agent, project: &Path) -> Result<Vec<Summary>, StoreError> {
    agent.store.list(&ListQuery { project: Some(project), limit: LISTED, include_subagents: false })
}
