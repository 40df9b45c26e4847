//! What a hook's process left behind, as a reply or a failure: exit codes and stdout of either protocol (R27, R28).

use tenter_proc::{Captured, Completion, End};
use tenter_protocol::{EventName, Reply, executable, manifest};

use super::Failure;
use super::bounded::bounded;
use crate::hook::{Hook, Protocol};

/// The exit code by which a manifest hook blocks.
const BLOCKED: i32 = 2;

/// What a process left behind.
pub(super) struct Read {
    /// The reply, or why there is none.
    pub(super) answer: Result<Reply, Failure>,
    /// What of the answer was not understood.
    pub(super) warnings: Vec<String>,
    /// What the hook wanted recorded.
    pub(super) notes: Vec<String>,
}

impl From<Result<Reply, Failure>> for Read {
    fn from(answer: Result<Reply, Failure>) -> Self {
        Self { answer, warnings: Vec::new(), notes: Vec::new() }
    }
}

pub(super) fn read(hook: &Hook, event: EventName, completion: &Completion) -> Read {
    let is_manifest = matches!(hook.protocol, Protocol::Manifest(_));
    match &completion.end {
        End::Exited(BLOCKED) if is_manifest => {
            Ok(manifest::deny_by_exit(&bounded(completion.stderr.text()))).into()
        }
        End::Exited(0) if is_manifest => of_manifest(event, &completion.stdout),
        End::Exited(0) => of_executable(event, &completion.stdout).into(),
        ended => Err(failure(hook, ended)).into(),
    }
}

fn of_executable(event: EventName, stdout: &Captured) -> Result<Reply, Failure> {
    // An error quotes what it is about, however long that is.
    executable::parse_reply(event, whole(stdout)?)
        .map_err(|error| Failure::Reply(bounded(error.to_string())))
}

fn of_manifest(event: EventName, stdout: &Captured) -> Read {
    let stdout = match whole(stdout) {
        Ok(stdout) => stdout,
        Err(failure) => return Err(failure).into(),
    };
    let manifest::Answer { reply, warnings, log } = manifest::parse_reply(event, stdout);
    let printed = log.map(|text| format!("printed: {text}"));
    let notes = reply.log.clone().into_iter().chain(printed).collect();
    let warnings = warnings.into_iter().map(bounded).collect();
    Read { answer: Ok(reply), warnings, notes }
}

/// A stream of which something was dropped is no answer (R37).
fn whole(stdout: &Captured) -> Result<&[u8], Failure> {
    stdout.whole().ok_or(Failure::TooLong(stdout.total))
}

fn failure(hook: &Hook, end: &End) -> Failure {
    match end {
        End::Exited(code) => Failure::Exit(*code),
        End::Signalled(signal) => Failure::Signal(*signal),
        End::TimedOut => Failure::TimedOut(hook.policy.timeout),
        End::Cancelled => Failure::Cancelled,
        End::NotStarted(error) => Failure::NotStarted(error.to_string()),
    }
}
