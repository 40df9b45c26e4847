//! The launcher: `tenter-hook confine [OPTION]… -- COMMAND…` restricts itself and becomes the command (F5).

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use rustix::process::{Pid, kill_process};
use signal_hook::low_level::emulate_default_handler;
use tenter_engine::Directories;
use tenter_engine::configuration::{self, HookTables};
use tenter_protocol::confinement::{Confinement, Otherwise};

use crate::check_in::CheckIn;
use crate::places::Surroundings;
use crate::promises::{self, PromiseReport, PromiseState};
use crate::proxy;
use crate::restored::Copies;
use crate::restrict::{Limits, Restriction, check, restrict};

/// The first argument.
pub const COMMAND: &str = proxy::LAUNCHER_COMMAND;
/// The usage line.
pub const USAGE: &str = "usage: confine [--profile NAME]… [--spec JSON] [--project DIR] [--check-in FILE] -- COMMAND…\n       confine --check";
/// The exit code if a promise cannot be kept, or an argument is wrong.
const REFUSED: u8 = 125;
/// The exit code if the command cannot be executed.
const NOT_EXECUTABLE: u8 = 126;
/// The exit code if the command does not exist.
const NOT_FOUND: u8 = 127;
/// Signals that are passed on to a command while the launcher waits for it.
const FORWARDED: [Signal; 5] =
    [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGWINCH];
/// Signals that the terminal sends to the command as well: the launcher only waits on.
const FROM_TERMINAL: [Signal; 2] = [Signal::SIGINT, Signal::SIGQUIT];

/// The arguments.
#[derive(Debug, Default, PartialEq)]
struct LauncherArguments {
    profiles: Vec<String>,
    spec: Option<String>,
    project: Option<PathBuf>,
    check_in: Option<PathBuf>,
    limits: Limits,
    checks: bool,
    command: Vec<OsString>,
}

/// Reads a profile of the user's by its name, before anything is restricted; `None` if there is none.
pub type ProfileReader = fn(&str, &Surroundings) -> Result<Option<Confinement>, String>;

/// Runs the launcher with the arguments after [`COMMAND`]. Returns only if the command could not be started, or if the launcher had
/// to wait for it.
pub fn run(
    arguments: &[OsString],
    surroundings: Surroundings,
    read_profile: ProfileReader,
) -> ExitCode {
    if arguments.first().is_some_and(|first| first == "--help" || first == "-h") {
        return help();
    }
    match start(arguments, surroundings, read_profile) {
        Ok(code) => code,
        Err(why) => {
            say(&format!("tenter confine: {why}"));
            ExitCode::from(REFUSED)
        }
    }
}

fn start(
    arguments: &[OsString],
    mut surroundings: Surroundings,
    read_profile: ProfileReader,
) -> Result<ExitCode, String> {
    if let [first, rules] = arguments
        && first == proxy::ARGUMENT
    {
        return proxy::run(rules, &surroundings.env).map(|()| ExitCode::SUCCESS);
    }
    let arguments = LauncherArguments::parse(arguments)?;
    if let Some(project) = &arguments.project {
        surroundings = surroundings.in_project(project.clone());
    }
    if arguments.checks {
        return Ok(print_check(&check(&surroundings, arguments.limits)));
    }
    let confinements = arguments.confinements(&|name| read_profile(name, &surroundings))?;
    let note = arguments.check_in.as_deref().map(create_note).transpose()?;
    let ignored_set = ignored_signals();
    let restriction = restrict(&confinements, &surroundings, arguments.limits);
    demand(&confinements, &restriction.promises)?;
    if let Some(mut note) = note {
        let labels: Vec<&str> = confinements.iter().map(Confinement::label).collect();
        let fact = promises::fact(labels.join(", "), &restriction.promises);
        note.write(&fact).map_err(|error| format!("the check-in cannot be written: {error}"))?;
    }
    execute(&arguments.command, restriction, ignored_set)
}

/// Reads a profile in the user's configuration.
///
/// # Errors
/// The configuration or the profile is not valid.
pub fn configured_profile(
    name: &str,
    surroundings: &Surroundings,
) -> Result<Option<Confinement>, String> {
    let file = Directories::from_vars(&surroundings.env).config_home.join("tenter/config.toml");
    let tables: HookTables = configuration::parse(&file, std::fs::read_to_string(&file))
        .map_err(|error| error.to_string())?;
    let profile = tables.confine.profile(name, &surroundings.home)?;
    if let Some(profile) = profile.as_ref().filter(|profile| !profile.not_kept.is_empty()) {
        say(&format!("tenter confine: {name}: cannot be kept: {}", profile.not_kept.join(", ")));
    }
    Ok(profile.map(|profile| profile.confinement))
}

fn create_note(path: &Path) -> Result<CheckIn, String> {
    CheckIn::create(path)
        .map_err(|error| format!("the check-in {} cannot be created: {error}", path.display()))
}

/// Refuses if a promise does not hold, unless every confinement says that the command runs anyway.
fn demand(confinements: &[Confinement], reports: &[PromiseReport]) -> Result<(), String> {
    let promises: Vec<String> = reports
        .iter()
        .filter(|report| report.is_broken())
        .map(|report| format!("{} ({})", report.name, report.why))
        .collect();
    if promises.is_empty() {
        return Ok(());
    }
    let what = format!("cannot be kept here: {}", promises.join(", "));
    if Otherwise::strictest(confinements) == Otherwise::Run {
        say(&format!("tenter confine: {what}; the command runs without"));
        return Ok(());
    }
    Err(format!("{what}; the command did not run"))
}

#[expect(clippy::disallowed_methods, reason = "the process becomes the command, or waits for it")]
fn execute(
    command: &[OsString],
    restriction: Restriction,
    ignored_set: u64,
) -> Result<ExitCode, String> {
    let (program, arguments) = command.split_first().ok_or(USAGE)?;
    let mut command = Command::new(program);
    command.args(arguments);
    let Restriction { restored_files: restored, proxy, .. } = restriction;
    command.envs(proxy.iter().flat_map(proxy::RunningProxy::variables));
    if restored.is_none() && proxy.is_none() {
        return Ok(not_started(program, &command.exec()));
    }
    let copies = restored
        .map(Copies::read)
        .transpose()
        .map_err(|error| format!("a protected file cannot be copied: {error}"))?;
    let status = match wait_for(&mut command, ignored_set) {
        Ok(status) => status,
        Err(error) => return Ok(not_started(program, &error)),
    };
    for report in copies.iter().flat_map(Copies::put_back) {
        say(&format!("tenter confine: {report}"));
    }
    // The proxy ends before this process: what outlives the command has no network.
    drop(proxy);
    Ok(end_as(status))
}

fn not_started(program: &OsStr, error: &io::Error) -> ExitCode {
    say(&format!("tenter confine: {}: {error}", program.display()));
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    ExitCode::from(if is_missing { NOT_FOUND } else { NOT_EXECUTABLE })
}

/// Runs the command and waits. Signals to this process alone are passed on; the terminal sends its own to both.
fn wait_for(command: &mut Command, ignored_set: u64) -> io::Result<ExitStatus> {
    // A command inherits blocked signals but no handlers: until it has started, handlers keep signals for it.
    let early = catch_signals(ignored_set)?;
    let mut child = command.spawn()?;
    let mut signals: SigSet = FORWARDED.into_iter().chain(FROM_TERMINAL).collect();
    signals.add(Signal::SIGCHLD);
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&signals), None)?;
    let pid = Pid::from_child(&child);
    for (signal, _) in early.iter().filter(|(_, is_caught)| is_caught.load(Ordering::Relaxed)) {
        send(pid, *signal);
    }
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let signal = signals.wait()?;
        if FORWARDED.contains(&signal) {
            send(pid, signal);
        }
    }
}

/// Returns the bits of the signals that this process ignores, as below `nohup`. The command inherits that, unless they are caught here.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}

/// Catches the signals that would end this process alone, and tells which came.
fn catch_signals(ignored_set: u64) -> io::Result<Vec<(Signal, Arc<AtomicBool>)>> {
    let catch = |signal| {
        let is_caught = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal as i32, Arc::clone(&is_caught))?;
        Ok((signal, is_caught))
    };
    let ends_process = |signal: &Signal| ignored_set & 1 << (*signal as i32 - 1) == 0;
    FORWARDED.into_iter().chain(FROM_TERMINAL).filter(ends_process).map(catch).collect()
}

fn send(pid: Pid, signal: Signal) {
    if let Some(signal) = rustix::process::Signal::from_named_raw(signal as i32) {
        let _ = kill_process(pid, signal);
    }
}

/// Ends as the command did: with its exit code, or by its signal.
fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        let _ = emulate_default_handler(signal);
        let code = u8::try_from(128 + signal).unwrap_or(u8::MAX);
        return ExitCode::from(code);
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

fn print_check(reports: &[PromiseReport]) -> ExitCode {
    let lines: Vec<String> = reports.iter().map(|report| format!("{report}\n")).collect();
    let is_written = io::stdout().write_all(lines.concat().as_bytes()).is_ok();
    let is_complete = reports.iter().all(|report| report.state != PromiseState::NotKept);
    ExitCode::from(u8::from(!is_written || !is_complete))
}

/// Prints the usage for a user who asks for it.
pub fn help() -> ExitCode {
    let is_written = writeln!(io::stdout(), "{USAGE}").is_ok();
    if is_written { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

impl LauncherArguments {
    fn parse(arguments: &[OsString]) -> Result<Self, String> {
        let mut result = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let name = argument.to_str().unwrap_or_default();
            let mut value = || {
                let value = arguments.next().and_then(|value| value.to_str());
                value.ok_or_else(|| format!("{name} needs a value\n{USAGE}"))
            };
            match name {
                "--profile" => result.profiles.push(value()?.to_owned()),
                "--spec" => result.spec = Some(value()?.to_owned()),
                "--project" => result.project = Some(absolute(name, value()?)?),
                "--check-in" => result.check_in = Some(absolute(name, value()?)?),
                "--check" => result.checks = true,
                "--limit" => result.limits = limits(value()?)?,
                "--" => {
                    result.command = arguments.cloned().collect();
                    break;
                }
                other => return Err(format!("unknown argument {other:?}\n{USAGE}")),
            }
        }
        if result.command.is_empty() != result.checks {
            return Err(USAGE.to_owned());
        }
        Ok(result)
    }

    /// Returns the confinements in the spec, an object or a list, and the profiles. Without any, it is the profile `standard`.
    fn confinements(
        &self,
        profile: &dyn Fn(&str) -> Result<Option<Confinement>, String>,
    ) -> Result<Vec<Confinement>, String> {
        let mut confinements: Vec<Confinement> = match self.spec.as_deref().map(str::trim_start) {
            None => Vec::new(),
            Some(list) if list.starts_with('[') => spec(list)?,
            Some(object) => vec![spec(object)?],
        };
        confinements.extend(
            self.profiles
                .iter()
                .map(|name| Confinement { profile: Some(name.clone()), ..Confinement::default() }),
        );
        if confinements.is_empty() {
            confinements.push(Confinement::default());
        }
        let mut all = Vec::new();
        for confinement in confinements {
            // A spec with all fields is complete: its profile is only a name.
            if confinement.profile.is_some() && !confinement.is_unrestricted() {
                all.push(confinement);
                continue;
            }
            let own = confinement.profile.as_deref().map(profile).transpose()?.flatten();
            let resolution = confinement.resolve(|_| own.clone());
            all.extend(resolution.map_err(|name| format!("there is no profile {name:?}"))?);
        }
        Ok(all)
    }
}

fn spec<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("--spec: {error}"))
}

fn absolute(name: &str, value: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(value);
    if path.is_absolute() { Ok(path) } else { Err(format!("{name} needs an absolute path")) }
}

/// Parses the layers that a test takes away: `abi=2,no-namespaces,no-seccomp`.
fn limits(text: &str) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for word in text.split(',') {
        match word.split_once('=') {
            Some(("abi", number)) => {
                limits.abi = number.parse().map_err(|_| format!("--limit: {word:?}"))?;
            }
            None if word == "no-namespaces" => limits.namespaces = false,
            None if word == "no-seccomp" => limits.seccomp = false,
            _ => return Err(format!("--limit: unknown {word:?}")),
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<LauncherArguments, String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        LauncherArguments::parse(&words)
    }

    #[test]
    fn options_come_before_the_command() {
        let arguments =
            parse("--profile build --limit abi=2,no-seccomp -- cargo build --spec x").unwrap();
        assert_eq!(arguments.profiles, ["build"]);
        assert_eq!(arguments.limits, Limits { abi: 2, namespaces: true, seccomp: false });
        assert_eq!(arguments.command, ["cargo", "build", "--spec", "x"]);
    }

    #[test]
    fn wrong_arguments_are_errors() {
        for line in [
            "",
            "--",
            "--check -- ls",
            "--spec",
            "--profil x -- ls",
            "--project x -- ls",
            "--limit abi -- ls",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_spec_is_one_confinement_or_several() {
        let confinements = |spec: &str, profiles: &[&str]| {
            let profiles = profiles.iter().map(|&name| name.to_owned()).collect();
            let arguments =
                LauncherArguments { spec: Some(spec.to_owned()), profiles, ..Default::default() };
            arguments.confinements(&|_| Ok(None))
        };
        assert_eq!(confinements(r#"{"network": "none"}"#, &[]).unwrap().len(), 1);
        let several = confinements(r#"[{"network": "none"}, {"write": []}]"#, &["build"]).unwrap();
        assert_eq!(several.len(), 3);
        assert_eq!(several[2].label(), "build");
        assert!(confinements(r#"{"profile": "x"}"#, &[]).unwrap_err().contains("no profile"));
        assert!(confinements("{", &[]).is_err());
    }

    #[test]
    fn a_broken_promise_refuses_unless_every_confinement_says_run() {
        let reports = [PromiseReport::not_kept("write", "no Landlock")];
        let run = Confinement { otherwise: Some(Otherwise::Run), ..Confinement::default() };
        let ask = Confinement::default();
        assert!(demand(std::slice::from_ref(&run), &reports).is_ok());
        assert!(demand(&[run.clone(), ask], &reports).is_err());
        let addition = [PromiseReport::not_kept("signals", "old")];
        assert!(demand(&[Confinement::default()], &addition).is_ok());
    }
}
