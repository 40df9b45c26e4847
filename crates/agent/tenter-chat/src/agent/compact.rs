//! Compaction on request of the user (R54), for `run` and `chat`.

use std::collections::BTreeMap;

use tenter_agent::session::{CompactionResult, Session, Status};
use tenter_base::sanitize;
use tenter_proc::Cancel;

/// Compacts the session's conversation with these arguments for the recipe. Returns a sentence about the result.
///
/// # Errors
/// The status of the session if it was not compacted. The reason has been shown.
pub(crate) fn compact(
    session: &mut Session,
    args: &BTreeMap<String, String>,
    cancel: &Cancel,
) -> Result<String, Status> {
    let before = *session.usage();
    match session.compact(args) {
        Ok(CompactionResult::Done) => {
            let about = if before.estimated { "about " } else { "" };
            let now = session.usage().current_context_window;
            Ok(format!(
                "The context now has about {now} tokens; it had {about}{}.",
                before.current_context_window
            ))
        }
        Ok(CompactionResult::Blocked) => Err(Status::Blocked),
        Ok(CompactionResult::Unchanged) if cancel.is_cancelled() => Err(Status::Interrupted),
        Ok(CompactionResult::Unchanged) => Err(Status::Failed),
        Err(error) => {
            session.diagnose(&error.diagnostic());
            Err(Status::Failed)
        }
    }
}

/// Returns a sentence about how to restore the replaced history.
pub(crate) fn how_to_restore(session: &Session) -> String {
    let id = sanitize(session.conversation_id());
    format!("To restore the previous history, run: tenter conversation restore {id}")
}
