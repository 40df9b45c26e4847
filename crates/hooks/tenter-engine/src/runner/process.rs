//! The invocation of a hook: program, working directory, environment, limits (R15, R38, R40).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tenter_base::search_path;
use tenter_proc::{Invocation, Limits, ProcessEnd, Streams};
use tenter_protocol::confinement::{Confinement, Otherwise};
use tenter_protocol::executable::PROTOCOL_VERSION;
use tenter_protocol::manifest::HttpEndpoint;
use tenter_protocol::runtime::SERVE;

use super::Job;
use crate::claude_code::REMOVED;
use crate::environment::{Environment, NO_BYTECODE};
use crate::failure::RunFailure;
use crate::hook::{Hook, HookKind};
use crate::run_end::RunEnd;
use crate::settings::EngineSettings;
use crate::source::EntryPoint;

/// The environment variable with the event, in the hook's own spelling.
const EVENT: &str = "TENTER_EVENT";
/// The environment variable with the conversation.
const SESSION_ID: &str = "TENTER_SESSION_ID";

/// The program of a hook.
#[derive(Clone, Copy)]
pub(super) enum Program<'h> {
    /// The hook's own file.
    Executable(&'h Path),
    /// A script, and the directory of its hook.
    Script(&'h EntryPoint, &'h Path),
    /// The program `tenter`, which posts the payload to a server, and the directory of the hook.
    HttpClient(&'h Path, &'h HttpEndpoint, &'h Path),
}

impl<'h> Program<'h> {
    /// Returns the program of a hook.
    ///
    /// # Errors
    /// The hook has no program, or the program that posts is unknown.
    pub(super) fn new(hook: &'h Hook, settings: &'h EngineSettings) -> Result<Self, RunFailure> {
        let no_program = || RunFailure::NotStarted("it has no program".to_owned());
        let path = hook.path().ok_or_else(no_program)?;
        match &hook.kind {
            HookKind::Executable => Ok(Self::Executable(path)),
            HookKind::Program(entry) => Ok(Self::Script(entry, path)),
            HookKind::Http(endpoint) => match &settings.http_client {
                Some(client) => Ok(Self::HttpClient(client, endpoint, path)),
                None => Err(RunFailure::NoHttpClient),
            },
            HookKind::Static(_) | HookKind::ReadyMade(_) | HookKind::Native(_) => Err(no_program()),
        }
    }
}

pub(super) fn invocation(
    job: &Job<'_>,
    program: Program<'_>,
    payload: String,
    settings: &EngineSettings,
    state: Vec<(&'static str, OsString)>,
) -> Invocation {
    let hook = job.hook;
    let project = hook.project_in(&settings.project);
    let private = state.first().map(|(_, directory)| directory.clone());
    let env = environment(job, program, settings, state);
    let (path, args) = match program {
        Program::Executable(file) => (file.to_owned(), vec!["run".into()]),
        Program::Script(entry, _) => script(entry, &env),
        Program::HttpClient(client, endpoint, _) => (client.to_owned(), post_arguments(endpoint)),
    };
    let cwd = match program {
        Program::Script(_, directory) if hook.options.starts_in_own_directory => directory,
        _ => project,
    };
    let (path, args) = if hook.options.is_pure {
        pure(settings, private.as_ref(), (path, args))
    } else {
        (path, args)
    };
    Invocation {
        program: path,
        args,
        cwd: cwd.to_owned(),
        env,
        stdin: payload.into_bytes(),
        streams: Streams::Separate,
        limits: Limits { timeout: hook.policy.timeout, ..Limits::default() },
    }
}

/// Returns the invocation of a runtime hook: with the argument `serve`, and without variables of a single event (S9).
pub(super) fn serving_invocation(
    job: &Job<'_>,
    program: Program<'_>,
    settings: &EngineSettings,
    state: Vec<(&'static str, OsString)>,
) -> Invocation {
    let mut invocation = invocation(job, program, String::new(), settings, state);
    match program {
        Program::Executable(_) => invocation.args = vec![SERVE.into()],
        Program::Script(..) | Program::HttpClient(..) => invocation.args.push(SERVE.into()),
    }
    invocation.env.retain(|(name, _)| name != EVENT && name != SESSION_ID);
    invocation.env.retain(|(name, _)| name != NO_BYTECODE);
    invocation.env.push((NO_BYTECODE.into(), "1".into()));
    invocation
}

/// Returns the launcher that runs a program without network, secrets and writes but to its private directory (F11). Where that cannot be
/// kept, the program does not run, and the hook fails.
fn pure(
    settings: &EngineSettings,
    private: Option<&OsString>,
    (path, args): (PathBuf, Vec<OsString>),
) -> (PathBuf, Vec<OsString>) {
    let write =
        private.into_iter().map(|directory| directory.to_string_lossy().into_owned()).collect();
    let pure = Confinement::built_in("pure").unwrap_or_default();
    let confinement = Confinement { write: Some(write), otherwise: Some(Otherwise::Deny), ..pure };
    // A confinement without a launcher, or without a spec, starts nothing.
    let launcher = settings.launcher.clone().unwrap_or_else(|| "tenter".into());
    let spec = serde_json::to_string(&confinement).unwrap_or_default();
    let project = settings.project.clone();
    let mut all: Vec<OsString> = vec!["confine".into(), "--spec".into(), spec.into()];
    all.extend(["--project".into(), project.into(), "--".into(), path.into()]);
    all.extend(args);
    (launcher, all)
}

/// Returns the program and arguments for a script: the script if it is executable, otherwise its interpreter, with `sh` for a
/// missing `bash` (R15).
fn script(entry: &EntryPoint, env: &Environment) -> (PathBuf, Vec<OsString>) {
    match entry.interpreter {
        None => (entry.path.clone(), Vec::new()),
        Some("bash") if search_path::program("bash", env).is_none() => {
            ("sh".into(), vec![entry.path.clone().into()])
        }
        Some(interpreter) => (interpreter.into(), vec![entry.path.clone().into()]),
    }
}

/// Returns the arguments with which the program `tenter` posts to a server.
fn post_arguments(endpoint: &HttpEndpoint) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["hooks".into(), "post".into()];
    for (name, variable) in &endpoint.headers {
        args.extend(["--header".into(), format!("{name}=env:{variable}").into()]);
    }
    args.extend(["--".into(), endpoint.url.as_str().into()]);
    args
}

/// Returns the environment of one run (R40).
fn environment(
    job: &Job<'_>,
    program: Program<'_>,
    settings: &EngineSettings,
    state: Vec<(&'static str, OsString)>,
) -> Environment {
    let hook = job.hook;
    let project = hook.project_in(&settings.project);
    let (directory, requested_names) = match program {
        Program::Executable(file) => {
            (file.parent().unwrap_or(Path::new("/")), hook.requested_env())
        }
        Program::Script(_, directory) => (directory, hook.requested_env()),
        // Nothing that is withheld is sent to a server (R80).
        Program::HttpClient(_, _, directory) => (directory, Vec::new()),
    };
    let mut variables: Vec<(&str, OsString)> = vec![
        (EVENT, job.subscription.spelling.into()),
        (SESSION_ID, job.event.scope.conversation_id.as_str().into()),
        ("TENTER_PROJECT_DIR", project.as_os_str().to_owned()),
        ("TENTER_HOOK_DIR", directory.as_os_str().to_owned()),
        ("TENTER_HOOK_NAME", hook.name.as_str().into()),
        ("TENTER_PROTOCOL_VERSION", PROTOCOL_VERSION.to_string().into()),
    ];
    let native = &hook.options.claude_code;
    variables.extend(native.iter().flat_map(|native| native.variables(project)));
    let values: Vec<(String, OsString)> = hook
        .options
        .settings
        .iter()
        .map(|setting| (setting.variable(), setting.value().to_string().into()))
        .collect();
    variables.extend(values.iter().map(|(name, value)| (name.as_str(), value.clone())));
    if state.is_empty() {
        // By default Python writes compiled files next to the script, and a directory that changed is no longer trusted.
        variables.push((NO_BYTECODE, "1".into()));
    }
    variables.extend(state);
    let mut environment = settings.environment.for_hook(&requested_names, &variables);
    if native.is_some() {
        environment.retain(|(name, _)| REMOVED.iter().all(|variable| name != variable));
    }
    environment
}

pub(super) fn run_end(end: &ProcessEnd) -> RunEnd {
    match end {
        ProcessEnd::Exited(code) => RunEnd::Exited(*code),
        ProcessEnd::Signalled(signal) => RunEnd::Signal(*signal),
        ProcessEnd::TimedOut => RunEnd::TimedOut,
        ProcessEnd::Cancelled => RunEnd::Cancelled,
        ProcessEnd::NotStarted(_) => RunEnd::NotStarted,
    }
}
