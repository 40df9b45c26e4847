//! `/export`: the conversation as a Markdown file.

use std::path::PathBuf;

use tenter_agent::store::StoreError;
use tenter_base::visible;
use tenter_terminal::question::confirm;
use tenter_terminal::{Failure, ui};

use super::{CommandContext, SlashResult};
use crate::chat::words::PathBases;
use crate::conversation::export;

/// Writes the conversation to a file that only the user can read. Asks before it replaces one.
pub(super) fn export(context: &mut CommandContext, argument: &str) -> SlashResult {
    let (store, id) = (&context.agent.store, context.session.conversation_id());
    let text = match export::as_markdown(store, id) {
        Ok(text) => text,
        Err(StoreError::NotFound { .. }) => {
            let failure = Failure::usage("there is nothing to export yet");
            return Err(failure.help("send a message first; /resume lists other conversations"));
        }
        Err(error) => return Err(Failure::caused_by(error)),
    };
    let path = path(context, argument)?;
    let path_text = path.to_string_lossy();
    let path_text = visible(&path_text);
    let exists = path.symlink_metadata().is_ok();
    if exists {
        let mut read = |prompt: &str| context.chat.dialogue.question(prompt);
        if !confirm(&format!("{path_text} exists. Replace it?"), &mut read) {
            ui::note("Nothing was written.");
            return Ok(None);
        }
    }
    export::write(&path, &text, exists)
        .map_err(|failure| failure.help("name another file: /export FILE"))?;
    ui::note(format!("Wrote {path_text}."));
    Ok(None)
}

/// Returns the file to write: in the working directory if only a name is given, with a name of its own in a directory.
fn path(context: &CommandContext, argument: &str) -> Result<PathBuf, Failure> {
    let path = PathBases::new(context.chat.project.env).resolve_argument(argument);
    if !path.is_dir() {
        return Ok(path);
    }
    let summary = context
        .agent
        .store
        .load(context.session.conversation_id())
        .map_err(Failure::caused_by)?
        .summary;
    let digits = |c: char| c.is_ascii_digit() || c == ' ';
    let heading: String =
        ui::short_time(&summary.created_at).chars().filter(|c| digits(*c)).collect();
    Ok(path.join(format!("conversation-{}.md", heading.replace(' ', "-"))))
}
