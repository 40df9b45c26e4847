//! `/resume`, `/new` and `/clear`.

use std::path::Path;

use tenter_agent::Agent;
use tenter_agent::store::{ListQuery, StoreError, Summary};

use super::Talk;
use crate::commands::chat::{After, Change};
use crate::failure::Failure;
use crate::sanitize::{one_line, sanitize};
use crate::ui::{self, FAINT, NAME, styled};

/// Conversations that are listed at most.
const LISTED: usize = 20;

/// Lists the conversations of this project; or goes on with another, in a new session.
pub(super) fn resume(talk: &mut Talk, wanted: &str) -> Result<Option<After>, Failure> {
    let present = talk.session.conversation_id();
    if wanted.is_empty() {
        let found = recent(talk.agent, talk.chat.project.root())?;
        for summary in &found {
            ui::out(line(summary, present));
        }
        if found.is_empty() {
            ui::note("No conversation of this project is stored yet.");
        }
        return Ok(None);
    }
    let store = &talk.agent.store;
    let id = store
        .find(wanted)
        .map_err(|error| Failure::from(error).help("/resume lists those of this project"))?;
    if id == present {
        return Err(Failure::usage("this is that conversation"));
    }
    let stored = store.load(&id)?;
    ui::note(format!("Going on with: {}", one_line(&stored.summary.preview, 80)));
    Ok(Some(After::Change(Change::Conversation(Box::new(stored)))))
}

/// Begins a new conversation, in a new session.
#[expect(clippy::unnecessary_wraps, reason = "commands are alike")]
pub(super) fn new(_talk: &mut Talk, _argument: &str) -> Result<Option<After>, Failure> {
    ui::note("A new conversation begins.");
    Ok(Some(After::Change(Change::New)))
}

/// Those of this project, that which was saved to last first.
pub(in crate::commands::chat) fn recent(
    agent: &Agent,
    project: &Path,
) -> Result<Vec<Summary>, StoreError> {
    agent.store.list(&ListQuery { project: Some(project), limit: LISTED, include_subagents: false })
}

fn line(summary: &Summary, present: &str) -> String {
    let this = if summary.id == present { styled(FAINT, "  this one") } else { String::new() };
    format!(
        "{}  {}  {}{this}",
        styled(NAME, sanitize(&summary.id)),
        ui::short_time(&summary.updated_at),
        one_line(&summary.preview, 60)
    )
}
