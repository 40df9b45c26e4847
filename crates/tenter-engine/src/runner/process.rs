//! How a hook of either protocol is started: program, folder, environment, limits (R15, R38, R40).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tenter_base::search_path;
use tenter_proc::{End, Invocation, Limits, Streams};
use tenter_protocol::executable::PROTOCOL_VERSION;

use super::Request;
use crate::environment::Environment;
use crate::hook::{EntryPoint, Hook, ManifestHook};
use crate::settings::EngineSettings;

/// What is started for a hook.
#[derive(Clone, Copy)]
pub(super) enum Program<'h> {
    /// The hook's own file.
    Executable,
    /// A manifest hook's script.
    Script(&'h ManifestHook, &'h EntryPoint),
}

pub(super) fn invocation(
    hook: &Hook,
    program: Program<'_>,
    request: Request,
    settings: &EngineSettings,
    state: Vec<(&'static str, OsString)>,
) -> Invocation {
    let env = environment(hook, program, &request, settings, state);
    let (path, args) = match program {
        Program::Executable => (hook.path.clone(), vec!["run".into()]),
        Program::Script(_, entry) => script(entry, &env),
    };
    let in_own_folder =
        matches!(program, Program::Script(manifest, _) if manifest.starts_in_own_folder);
    Invocation {
        program: path,
        args,
        cwd: if in_own_folder { hook.path.clone() } else { settings.project.clone() },
        env,
        stdin: request.payload.into_bytes(),
        streams: Streams::Separate,
        limits: Limits { timeout: hook.policy.timeout, ..Limits::default() },
    }
}

/// A script that may be executed is; another is given to its interpreter: `bash`, else `sh` (R15).
fn script(entry: &EntryPoint, env: &Environment) -> (PathBuf, Vec<OsString>) {
    match entry.interpreter {
        None => (entry.path.clone(), Vec::new()),
        Some("bash") if search_path::program("bash", env).is_none() => {
            ("sh".into(), vec![entry.path.clone().into()])
        }
        Some(interpreter) => (interpreter.into(), vec![entry.path.clone().into()]),
    }
}

/// The environment of one run (R40).
fn environment(
    hook: &Hook,
    program: Program<'_>,
    request: &Request,
    settings: &EngineSettings,
    state: Vec<(&'static str, OsString)>,
) -> Environment {
    let (folder, asked) = match program {
        Program::Executable => (hook.path.parent().unwrap_or(Path::new("/")), &[][..]),
        Program::Script(manifest, _) => (hook.path.as_path(), manifest.env.as_slice()),
    };
    let asked = [asked, &hook.env].concat();
    let mut added: Vec<(&str, OsString)> = vec![
        ("TENTER_EVENT", request.subscription.spelling.into()),
        ("TENTER_SESSION_ID", request.session_id.as_str().into()),
        ("TENTER_PROJECT_DIR", settings.project.as_os_str().to_owned()),
        ("TENTER_HOOK_DIR", folder.as_os_str().to_owned()),
        ("TENTER_HOOK_NAME", hook.name.as_str().into()),
        ("TENTER_PROTOCOL_VERSION", PROTOCOL_VERSION.to_string().into()),
    ];
    if state.is_empty() {
        // Python would write compiled files beside the script, and a folder that changed is not trusted any more.
        added.push(("PYTHONDONTWRITEBYTECODE", "1".into()));
    }
    added.extend(state);
    settings.environment.with(&asked, &added)
}

pub(super) fn exit_words(end: &End) -> String {
    match end {
        End::Exited(code) => format!("exit {code}"),
        End::Signalled(signal) => format!("signal {signal}"),
        End::TimedOut => "timed out".to_owned(),
        End::Cancelled => "cancelled".to_owned(),
        End::NotStarted(_) => "not started".to_owned(),
    }
}
