//! Answers for a hook without code. Nothing is started: what it does is bounded by the steps that a template may take.

use std::time::Instant;

use tenter_proc::Captured;
use tenter_protocol::Reply;

use super::bounded::bounded;
use super::{Failure, Report, Request};
use crate::builtin::NO_PROCESS;
use crate::static_action::StaticAction;

pub(super) fn run(hook: &StaticAction, request: &Request) -> Report {
    let begun = Instant::now();
    let answer = answer(hook, request);
    Report {
        answer,
        warnings: Vec::new(),
        notes: Vec::new(),
        exit: NO_PROCESS.to_owned(),
        duration: begun.elapsed(),
        stdout: Captured::default(),
        stderr: Captured::default(),
    }
}

/// The answer to the very payload that a script would read.
fn answer(hook: &StaticAction, request: &Request) -> Result<Reply, Failure> {
    let payload = serde_json::from_str(&request.payload)
        .map_err(|error| Failure::Reply(format!("its payload cannot be read: {error}")))?;
    hook.answer(&payload).map_err(|why| Failure::Reply(bounded(why)))
}
