//! `checkpoint`: keeps the state of the files at each message of the user, in git.

use tenter_protocol::{Body, Reply};

use super::call::ReadyMadeCall;
use crate::checkpoints::Checkpoints;

pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let label = match call.body() {
        Body::BeforeAgent { message } => format!("Before: {}", message.trim()),
        Body::AfterAgent { .. } => "After the agent was done".to_owned(),
        _ => return Ok(Reply::default()),
    };
    if call.git(&["rev-parse", "--is-inside-work-tree"]).is_none() {
        return Ok(Reply { log: Some("not in a git repository".to_owned()), ..Reply::default() });
    }
    let checkpoints = Checkpoints {
        directory: call.project(),
        environment: &call.environment(),
        timeout: call.time_left(),
        cancel: call.cancel(),
    };
    let keep = call.number("keep").max(1) as usize;
    let checkpoint = checkpoints.create(&label, call.now(), keep)?;
    let log =
        checkpoint.map_or_else(|| "no file changed".to_owned(), |id| format!("checkpoint {id}"));
    Ok(Reply { log: Some(log), ..Reply::default() })
}
