//! The functions of ready-made hooks.
//!
//! Each is one function from an event to a reply. They need no interpreter, start no process of their own, and read no payload as text.
//! The manifests are part of the commands; nothing here is known to the fold.

mod budget;
mod call;
mod checkpoint;
mod conventions;
mod format;
mod lint;
mod notify;
mod project_tools;
mod prompt_injection;
mod repeated_failure;
mod session_context;
mod tests_before_stop;

use tenter_protocol::Reply;

use crate::ready_made::ReadyMade;

pub(super) use call::ReadyMadeCall;

/// Replies to an event.
///
/// # Errors
/// The reason why the run failed, as a sentence.
pub(super) fn reply(hook: ReadyMade, call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    match hook {
        ReadyMade::Format => format::reply(call),
        ReadyMade::Lint => lint::reply(call),
        ReadyMade::TestsBeforeStop => tests_before_stop::reply(call),
        ReadyMade::SessionContext => session_context::reply(call),
        ReadyMade::Notify => notify::reply(call),
        ReadyMade::Checkpoint => checkpoint::reply(call),
        ReadyMade::Conventions => conventions::reply(call),
        ReadyMade::Budget => budget::reply(call),
        ReadyMade::RepeatedFailure => repeated_failure::reply(call),
        ReadyMade::PromptInjection => prompt_injection::reply(call),
    }
}

/// Returns a reply that adds context for the model.
fn context(text: impl Into<String>) -> Reply {
    Reply { context: Some(text.into()), ..Reply::default() }
}

/// Returns a reply that denies.
fn deny(reason: impl Into<String>) -> Reply {
    use tenter_protocol::Verdict;
    use tenter_protocol::reply::VerdictKind;
    let verdict = Verdict::new(VerdictKind::Deny, Some(reason.into()));
    Reply { verdict: Some(verdict), ..Reply::default() }
}
