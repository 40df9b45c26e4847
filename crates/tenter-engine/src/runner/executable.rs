//! The executable protocol's run: `<hook> run`, the payload on stdin, the reply on stdout (R28, section E).

use std::ffi::OsString;
use std::path::Path;

use tenter_proc::{Cancel, Completion, End, Invocation, Limits, Streams};
use tenter_protocol::executable::{self, PROTOCOL_VERSION};
use tenter_protocol::{Event, EventName, Reply};

use super::{Failure, Report, Request};
use crate::dispatch::EngineSettings;
use crate::hook::Hook;
use crate::trust;

pub(super) fn run(
    hook: &Hook,
    event: &Event,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> Report {
    match request(hook, event) {
        Ok(request) => ask(hook, request, settings, cancel),
        Err(failure) => Report::not_started(failure),
    }
}

/// What `hook` is to be told of `event`.
fn request(hook: &Hook, event: &Event) -> Result<Request, Failure> {
    let name = event.body.name();
    let no_payload = || Failure::NoPayload(name.as_str());
    let subscription = hook.subscription(name).ok_or_else(no_payload)?;
    let payload = executable::payload(event, subscription.spelling).ok_or_else(no_payload)?;
    Ok(Request { subscription, session_id: event.scope.conversation_id.clone(), payload })
}

pub(super) fn ask(
    hook: &Hook,
    request: Request,
    settings: &EngineSettings,
    cancel: &Cancel,
) -> Report {
    if let Err(changed) = trust::verify_unchanged(hook) {
        return Report::not_started(changed.into());
    }
    let event = request.subscription.event;
    let completion = tenter_proc::run(&invocation(hook, request, settings), cancel);
    Report {
        answer: read(hook, event, &completion),
        exit: exit_words(&completion.end),
        duration: completion.duration,
        stdout: completion.stdout,
        stderr: completion.stderr,
    }
}

fn invocation(hook: &Hook, request: Request, settings: &EngineSettings) -> Invocation {
    Invocation {
        program: hook.path.clone(),
        args: vec!["run".into()],
        cwd: settings.project.clone(),
        env: environment(hook, &request, settings),
        stdin: request.payload.into_bytes(),
        streams: Streams::Separate,
        limits: Limits { timeout: hook.policy.timeout, ..Limits::default() },
    }
}

/// The environment of one run (R40).
fn environment(
    hook: &Hook,
    request: &Request,
    settings: &EngineSettings,
) -> Vec<(OsString, OsString)> {
    let folder = hook.path.parent().unwrap_or(Path::new("/"));
    let added: [(&str, OsString); 6] = [
        ("TENTER_EVENT", request.subscription.spelling.into()),
        ("TENTER_SESSION_ID", request.session_id.as_str().into()),
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

fn read(hook: &Hook, event: EventName, completion: &Completion) -> Result<Reply, Failure> {
    match &completion.end {
        End::Exited(0) => {}
        End::Exited(code) => return Err(Failure::Exit(*code)),
        End::Signalled(signal) => return Err(Failure::Signal(*signal)),
        End::TimedOut => return Err(Failure::TimedOut(hook.policy.timeout)),
        End::Cancelled => return Err(Failure::Cancelled),
        End::NotStarted(error) => return Err(Failure::NotStarted(error.to_string())),
    }
    let stdout = completion.stdout.whole().ok_or(Failure::TooLong(completion.stdout.total))?;
    Ok(executable::parse_reply(event, stdout)?)
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
