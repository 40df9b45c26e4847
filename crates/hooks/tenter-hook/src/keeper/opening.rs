//! The start of a hook, as it is sent to the keeper.

use std::ffi::OsString;

use tenter_bridge::keeper::Opening;
use tenter_engine::inspect::{PoolKey, Start};
use tenter_proc::Invocation;

/// The variables that reach hooks through the keeper, besides those that the hook requests.
const VARIABLES: [&str; 8] =
    ["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "VIRTUAL_ENV"];
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];
/// The variables that the engine sets for every hook.
const ENGINE_VARIABLES: [&str; 7] = *tenter_base::words!(
    "TENTER_PROJECT_DIR TENTER_HOOK_DIR TENTER_HOOK_NAME TENTER_HOOK_STATE TENTER_PROTOCOL_VERSION
     PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE"
);

/// Describes the start of a hook for the keeper. `None` if something is not UTF-8.
pub(super) fn opening(start: &Start) -> Option<Opening> {
    let Start { invocation, initialize, layer, fingerprint, requested_env, .. } = start;
    let text = |value: &OsString| value.to_str().map(str::to_owned);
    let is_passed = |name: &str| {
        VARIABLES.contains(&name)
            || ENGINE_VARIABLES.contains(&name)
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || requested_env.iter().any(|requested_name| requested_name == name)
    };
    let env = invocation.env.iter().filter(|(name, _)| name.to_str().is_some_and(is_passed));
    let env: Option<Vec<(String, String)>> =
        env.map(|(name, value)| Some((text(name)?, text(value)?))).collect();
    Some(Opening {
        initialize: initialize.clone(),
        layer: *layer,
        fingerprint: fingerprint.clone(),
        program: text(&invocation.program.clone().into())?,
        args: invocation.args.iter().map(text).collect::<Option<_>>()?,
        cwd: text(&invocation.cwd.clone().into())?,
        env: env?,
    })
}

/// Returns the key of a process: a hook in one state, with one environment.
pub(super) fn key(opening: &Opening) -> PoolKey {
    let Opening { initialize, layer, fingerprint, program, args, cwd, env } = opening;
    let mut env: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    env.sort();
    let program = [program.clone(), cwd.clone()];
    PoolKey {
        layer: *layer,
        hook: initialize.hook.clone(),
        fingerprint: fingerprint.clone(),
        variant: [&program[..], args, &[String::new()], &env].concat(),
    }
}

/// Returns how the process is started.
pub(super) fn start(opening: Opening) -> Start {
    let Opening { initialize, layer, fingerprint, program, args, cwd, env } = opening;
    let invocation = Invocation {
        program: program.into(),
        args: args.into_iter().map(OsString::from).collect(),
        cwd: cwd.into(),
        env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        ..Invocation::default()
    };
    let requested_env = Vec::new();
    Start { invocation, initialize, layer, fingerprint, requested_env, is_serve_only: true }
}
