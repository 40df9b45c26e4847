//! The executable protocol's run: `<hook> run`, the payload on stdin, the reply on stdout (R28, section E).

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use tenter_proc::{Cancel, Completion, End, Invocation, Limits, Streams};
use tenter_protocol::executable::{self, PROTOCOL_VERSION, Subscription};
use tenter_protocol::{Event, Reply};

use super::{Failure, Report};
use crate::dispatch::EngineSettings;
use crate::hook::Hook;
use crate::trust;

/// Lines of stderr that a record keeps.
const STDERR_LINES: usize = 20;

pub(super) fn run(
    hook: &Hook,
    event: &Event,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> Report {
    let invocation = match prepare(hook, event, settings) {
        Ok(invocation) => invocation,
        Err(failure) => {
            return Report {
                answer: Err(failure),
                exit: "not started".to_owned(),
                duration: Duration::ZERO,
                stderr_tail: String::new(),
            };
        }
    };
    let completion = tenter_proc::run(&invocation, cancel);
    Report {
        exit: exit_words(&completion.end),
        duration: completion.duration,
        stderr_tail: completion.stderr.tail_lines(STDERR_LINES),
        answer: read(hook, event, completion),
    }
}

fn prepare(hook: &Hook, event: &Event, settings: &EngineSettings) -> Result<Invocation, Failure> {
    trust::verify_unchanged(hook)?;
    let name = event.body.name();
    let no_payload = || Failure::NoPayload(name.as_str());
    let subscription = hook.subscription(name).ok_or_else(no_payload)?;
    let payload = executable::payload(event, subscription.spelling).ok_or_else(no_payload)?;
    Ok(Invocation {
        program: hook.path.clone(),
        args: vec!["run".into()],
        cwd: settings.project.clone(),
        env: environment(hook, event, subscription, settings),
        stdin: payload.into_bytes(),
        streams: Streams::Separate,
        limits: Limits { timeout: hook.policy.timeout, ..Limits::default() },
    })
}

/// The environment of one run (R40).
fn environment(
    hook: &Hook,
    event: &Event,
    subscription: Subscription,
    settings: &EngineSettings,
) -> Vec<(OsString, OsString)> {
    let folder = hook.path.parent().unwrap_or(Path::new("/"));
    let added: [(&str, OsString); 6] = [
        ("TENTER_EVENT", subscription.spelling.into()),
        ("TENTER_SESSION_ID", event.scope.conversation_id.as_str().into()),
        ("TENTER_PROJECT_DIR", settings.project.as_os_str().to_owned()),
        ("TENTER_HOOK_DIR", folder.as_os_str().to_owned()),
        ("TENTER_HOOK_NAME", hook.name.as_str().into()),
        ("TENTER_PROTOCOL_VERSION", PROTOCOL_VERSION.to_string().into()),
    ];
    let inherited =
        settings.environment.iter().filter(|(name, _)| added.iter().all(|(ours, _)| name != ours));
    inherited
        .cloned()
        .chain(added.iter().map(|(name, value)| (OsString::from(name), value.clone())))
        .collect()
}

fn read(hook: &Hook, event: &Event, completion: Completion) -> Result<Reply, Failure> {
    match completion.end {
        End::Exited(0) => {}
        End::Exited(code) => return Err(Failure::Exit(code)),
        End::Signalled(signal) => return Err(Failure::Signal(signal)),
        End::TimedOut => return Err(Failure::TimedOut(hook.policy.timeout)),
        End::Cancelled => return Err(Failure::Cancelled),
        End::NotStarted(error) => return Err(Failure::NotStarted(error.to_string())),
    }
    let stdout = completion.stdout.whole().ok_or(Failure::TooLong(completion.stdout.total))?;
    Ok(executable::parse_reply(event.body.name(), stdout)?)
}

fn exit_words(end: &End) -> String {
    match end {
        End::Exited(code) => format!("exit {code}"),
        End::Signalled(signal) => format!("signal {signal}"),
        End::TimedOut => "timed out".to_owned(),
        End::Cancelled => "cancelled".to_owned(),
        End::NotStarted(_) => "not started".to_owned(),
    }
}
