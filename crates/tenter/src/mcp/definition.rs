//! From the settings of a server to how it is started.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;

use tenter_engine::environment::Environment;
use tenter_mcp::{ServerDefinition, ServerName, ServerProgram, ToolSelection, Transport};
use tenter_proc::{Invocation, Limits, Streams};

use super::expansion::expand;
use crate::bound;
use crate::project::Project;
use crate::settings::ConfiguredServer;
use crate::user_only;

/// Default limit of one call.
const CALL_TIMEOUT: Duration = Duration::from_mins(2);
/// Default time for which the first model request waits for a server.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum length of a value that is masked in messages: shorter ones are parts of words.
const MIN_SECRET: usize = 8;

/// How a server is started.
///
/// # Errors
/// Why it cannot be.
pub(super) fn of(project: &Project, server: &ConfiguredServer) -> Result<ServerDefinition, String> {
    let table = &server.table;
    let name = ServerName::new(&server.name)?;
    let inherited = project.hook_environment().for_hook(&table.pass_env, &[]);
    let expanded = |text: &String| expand(text, &inherited);
    let Some(command) = &table.command else {
        return Err("it has no `command`".to_owned());
    };
    let command = expanded(command)?;
    if command.is_empty() {
        return Err("its `command` is empty".to_owned());
    }
    let args = table.args.iter().map(expanded).collect::<Result<Vec<_>, _>>()?;
    let added = table.env.iter().map(|(name, value)| Ok((name.clone(), expanded(value)?)));
    let added = added.collect::<Result<Vec<(String, String)>, String>>()?;
    let secrets = added.iter().map(|(_, value)| value);
    let secrets = secrets.filter(|value| value.len() >= MIN_SECRET).cloned().collect();
    let invocation = Invocation {
        program: command.into(),
        args: args.into_iter().map(OsString::from).collect(),
        cwd: project.root().join(table.cwd.as_deref().unwrap_or(Path::new("."))),
        env: environment(inherited, added),
        stdin: Vec::new(),
        streams: Streams::Separate,
        limits: Limits::default(),
    };
    let trampoline = Some(bound::trampoline());
    let seconds = |value: Option<NonZeroU64>, default| {
        value.map_or(default, |seconds| Duration::from_secs(seconds.get()))
    };
    Ok(ServerDefinition {
        name,
        transport: Transport::Program(ServerProgram { invocation, trampoline }),
        startup_timeout: seconds(table.startup_timeout_s, STARTUP_TIMEOUT),
        call_timeout: seconds(table.timeout_s, CALL_TIMEOUT),
        selection: ToolSelection { only: table.tools.clone(), exclude: table.exclude.clone() },
        secrets,
    })
}

/// The environment of a server: that of commands, and what its settings add.
fn environment(inherited: Environment, added: Vec<(String, String)>) -> Environment {
    let mut environment = inherited;
    let marker = (user_only::TENTER_MARKER.to_owned(), "1".to_owned());
    for (name, value) in added.into_iter().chain([marker]) {
        environment.retain(|(one, _)| *one != *name);
        environment.push((name.into(), value.into()));
    }
    environment
}
