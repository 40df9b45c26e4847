//! From the settings of a server to how it is started.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenter_commands::project::Project;
use tenter_commands::{authorities, bound, proxy, user_only};
use tenter_engine::inspect::Environment;
use tenter_mcp::{
    HttpServer, ServerDefinition, ServerName, ServerProgram, StartCheck, ToolSelection, Transport,
};
use tenter_proc::Invocation;
use tenter_settings::ConfiguredServer;
use tenter_terminal::Env;

use super::covered::ServerCoverage;
use super::expansion::expand;
use super::grants::GrantFile;
use super::needs_trust;
use super::place::{PROJECT, directory, inherited, outside};

/// Default limit of one call.
const CALL_TIMEOUT: Duration = Duration::from_mins(2);
/// Default time for which the first model request waits for a server.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum length of a value that is masked in messages: shorter ones are parts of words.
const MIN_SECRET: usize = 8;

/// Returns the definition of a server.
///
/// # Errors
/// It cannot be started; the error says why.
pub(super) fn define(
    project: &Project,
    server: &ConfiguredServer,
) -> Result<ServerDefinition, String> {
    let table = &server.table;
    let name = ServerName::new(&server.name)?;
    let base = inherited(project, server);
    let expansion = |text: &String| expand(text, &base);
    let selection = ToolSelection { only: table.tools.clone(), exclude: table.exclude.clone() };
    let variables = expanded_map(&table.env, &base)?;
    let headers = expanded_map(&table.headers, &base)?;
    let values = variables.iter().chain(&headers).map(|(_, value)| value);
    let mut secrets: Vec<String> =
        values.filter(|value| value.len() >= MIN_SECRET).cloned().collect();
    let transport = match (&table.command, &table.url) {
        (Some(command), None) => program(project, server, (command, base, variables))?,
        (None, Some(_)) if table.confine.is_some() => {
            return Err("it has both `url` and `confine`, which applies to programs".to_owned());
        }
        (None, Some(url)) => http(project, &expansion(url)?, headers, &mut secrets)?,
        (Some(_), Some(_)) => return Err("it has both `command` and `url`".to_owned()),
        (None, None) => return Err("it has neither `command` nor `url`".to_owned()),
    };
    let seconds = |value: Option<NonZeroU64>, default| {
        value.map_or(default, |seconds| Duration::from_secs(seconds.get()))
    };
    Ok(ServerDefinition {
        name,
        transport,
        startup_timeout: seconds(table.startup_timeout_s, STARTUP_TIMEOUT),
        call_timeout: seconds(table.timeout_s, CALL_TIMEOUT),
        selection,
        roots: vec![project.root().to_owned()],
        secrets,
        check: check(project, server)?,
    })
}

/// Returns the check before each start of a project's server: that it is still what the user trusted.
fn check(project: &Project, server: &ConfiguredServer) -> Result<Option<StartCheck>, String> {
    if !needs_trust(project, server) {
        return Ok(None);
    }
    let covered = ServerCoverage::new(project, server);
    let now = covered.fingerprint()?;
    Ok(Some(Arc::new(move || {
        if covered.fingerprint()? == now {
            return Ok(());
        }
        Err("its files changed since the session started; run `tenter trust` and start again"
            .to_owned())
    })))
}

/// Returns the place of the user's login with a server.
///
/// # Errors
/// It is not a server behind HTTP.
pub(crate) fn grant_file(
    project: &Project,
    server: &ConfiguredServer,
) -> Result<GrantFile, String> {
    let url = server
        .table
        .url
        .as_ref()
        .ok_or("it is a program; only servers with a `url` have logins")?;
    Ok(GrantFile::new(project, &expand(url, &inherited(project, server))?))
}

/// Returns a server behind HTTP. The secrets of the user's login are added to `secrets`.
fn http(
    project: &Project,
    url: &str,
    headers: Vec<(String, String)>,
    secrets: &mut Vec<String>,
) -> Result<Transport, String> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if !matches!(scheme.as_deref(), Some("http" | "https")) {
        return Err("its `url` must begin with https:// or http://".to_owned());
    }
    let authorities =
        authorities::from_environment(project.env).map_err(|failure| failure.message)?;
    let proxy = proxy::find(url, None, project.env);
    let authorities = authorities.authorities;
    // A header of the configuration is more explicit than a login.
    let has_header = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    let login = GrantFile::new(project, url).authorization().filter(|_| !has_header);
    let authorization = login.map(|(grant, authorization)| {
        secrets.extend(grant.secrets().map(str::to_owned));
        authorization
    });
    let url = url.to_owned();
    Ok(Transport::Http(HttpServer { url, headers, proxy, authorities, authorization }))
}

/// Returns a program.
fn program(
    project: &Project,
    server: &ConfiguredServer,
    (command, inherited, added): (&str, Environment, Vec<(String, String)>),
) -> Result<Transport, String> {
    let table = &server.table;
    let command = expand(command, &inherited)?;
    if command.is_empty() {
        return Err("its `command` is empty".to_owned());
    }
    let args = table.args.iter().map(|argument| expand(argument, &inherited));
    let args = args.collect::<Result<Vec<_>, _>>()?;
    let cwd = directory(project, server, &inherited)?;
    let base =
        if server.is_project { inherited } else { outside(project).environment(inherited, &cwd) };
    let root = (PROJECT.to_owned(), project.root().to_string_lossy().into_owned());
    let variables = std::iter::once(root).chain(added).collect();
    let args = args.into_iter().map(OsString::from).collect();
    let confined_program = table.confine.as_ref().map(|_| PathBuf::from(&command));
    let (program, args) = match &table.confine {
        None => (command.into(), args),
        Some(profile) => confined(project, profile, (command, args)),
    };
    let invocation = Invocation {
        program,
        args,
        cwd,
        env: environment(base, variables),
        ..Invocation::default()
    };
    let trampoline = Some(bound::trampoline());
    Ok(Transport::Program(ServerProgram { invocation, confined_program, trampoline }))
}

/// Returns the launcher that runs a program confined (F11). Where the profile cannot be kept, the server does not start.
fn confined(
    project: &Project,
    profile: &str,
    (command, args): (String, Vec<OsString>),
) -> (PathBuf, Vec<OsString>) {
    let root = project.root().as_os_str().to_owned();
    let mut all: Vec<OsString> = vec!["confine".into(), "--profile".into(), profile.into()];
    all.extend(["--project".into(), root, "--".into(), command.into()]);
    all.extend(args);
    (Env::program(), all)
}

fn expanded_map(
    values: &BTreeMap<String, String>,
    variables: &Environment,
) -> Result<Vec<(String, String)>, String> {
    let pairs = values.iter().map(|(name, value)| Ok((name.clone(), expand(value, variables)?)));
    pairs.collect()
}

/// Returns the environment of a server: the environment of commands, and what its settings add.
fn environment(base: Environment, variables: Vec<(String, String)>) -> Environment {
    let mut environment = base;
    let marker = (user_only::TENTER_MARKER.to_owned(), "1".to_owned());
    for (name, value) in variables.into_iter().chain([marker]) {
        environment.retain(|(one, _)| *one != *name);
        environment.push((name.into(), value.into()));
    }
    environment
}
