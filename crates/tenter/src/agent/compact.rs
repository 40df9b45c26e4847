//! Compaction because the person wants it (R54): for `run` and `chat`.

use std::collections::BTreeMap;

use tenter_agent::session::{Compacted, Session, Status};
use tenter_proc::Cancel;

use crate::sanitize::sanitize;

/// Compacts the session's conversation, with these arguments for the recipe, and says what that did.
///
/// # Errors
/// How it ended otherwise; why was told.
pub(crate) fn compact(
    session: &mut Session,
    args: &BTreeMap<String, String>,
    cancel: &Cancel,
) -> Result<String, Status> {
    let before = *session.usage();
    match session.compact(args) {
        Ok(Compacted::Done) => {
            let about = if before.estimated { "about " } else { "" };
            let now = session.usage().current_context_window;
            Ok(format!(
                "The context has about {now} tokens now; it had {about}{}.",
                before.current_context_window
            ))
        }
        Ok(Compacted::Blocked) => Err(Status::Blocked),
        Ok(Compacted::Not) if cancel.is_cancelled() => Err(Status::Interrupted),
        Ok(Compacted::Not) => Err(Status::Failed),
        Err(error) => {
            session.diagnose(&error.diagnostic());
            Err(Status::Failed)
        }
    }
}

/// How the person gets back what was replaced.
pub(crate) fn how_to_restore(session: &Session) -> String {
    let id = sanitize(session.conversation_id());
    format!("The history before comes back with: tenter conversation restore {id}")
}
