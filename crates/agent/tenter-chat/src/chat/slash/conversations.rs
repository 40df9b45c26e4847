//! `/resume`, `/new` and `/clear`.

use std::path::Path;

use tenter_agent::Agent;
use tenter_agent::store::{ListQuery, StoreError, Summary};
use tenter_base::sanitize::{one_line, sanitize};
use tenter_terminal::failure::Failure;
use tenter_terminal::ui::{self, FAINT, NAME, styled};

use super::CommandContext;
use crate::agent::Recap;
use crate::chat::{ChatEnd, SessionChange, recap};

/// Maximum number of listed conversations.
const LISTED: usize = 20;

/// Lists the conversations of this project; or continues another, in a new session.
pub(super) fn resume(
    context: &mut CommandContext,
    wanted: &str,
) -> Result<Option<ChatEnd>, Failure> {
    let present = context.session.conversation_id();
    if wanted.is_empty() {
        let conversations =
            recent(context.agent, context.chat.project.root()).map_err(Failure::caused_by)?;
        for summary in &conversations {
            ui::out(line(summary, present));
        }
        if conversations.is_empty() {
            ui::note("This project has no conversation yet.");
        }
        return Ok(None);
    }
    let store = &context.agent.store;
    let id = store.find(wanted).map_err(|error| {
        Failure::caused_by(error).help("/resume lists the conversations of this project")
    })?;
    if id == present {
        return Err(Failure::usage("this is the current conversation"));
    }
    let stored = store.load(&id).map_err(Failure::caused_by)?;
    ui::note(format!("Continuing: {}", one_line(&stored.summary.preview, 80)));
    Recap::new(&stored).iter().for_each(recap::show);
    Ok(Some(ChatEnd::Change(SessionChange::Conversation(Box::new(stored)))))
}

/// Starts a new conversation, in a new session.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn new(
    _context: &mut CommandContext,
    _argument: &str,
) -> Result<Option<ChatEnd>, Failure> {
    ui::note("Started a new conversation.");
    Ok(Some(ChatEnd::Change(SessionChange::New)))
}

/// The conversations of this project, the most recent first.
pub(in crate::chat) fn recent(agent: &Agent, project: &Path) -> Result<Vec<Summary>, StoreError> {
    agent.store.list(&ListQuery { project: Some(project), limit: LISTED, include_subagents: false })
}

fn line(summary: &Summary, present: &str) -> String {
    let this = if summary.id == present { styled(FAINT, "  (present)") } else { String::new() };
    format!(
        "{}  {}  {}{this}",
        styled(NAME, sanitize(&summary.id)),
        ui::short_time(&summary.updated_at),
        one_line(&summary.preview, 60)
    )
}
