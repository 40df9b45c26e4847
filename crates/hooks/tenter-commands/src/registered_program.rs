//! The program that other agents run, and the launcher of confined commands beside it: warnings if one is missing, does not start, or is
//! outdated (P1).

use std::path::PathBuf;
use std::time::Duration;

use tenter_base::search_path::{LAUNCHER, program_beside};

use tenter_bridge::host::HostVersion;
use tenter_bridge::registration::{
    ProgramState, launcher_path, own_version, program_path, program_state,
};
use tenter_proc::{Cancel, Completion, Invocation, Limits, ProcessEnd};
use tenter_protocol::{Diagnostic, Severity};
use tenter_terminal::{Env, ui};

use crate::git;
use crate::installed_agents::registry;

const ID: &str = "bridge-program";
/// The id of the diagnostic for a missing program, which `doctor` also reports for each agent.
pub(crate) const MISSING: &str = "bridge-program-missing";
/// The next step for every problem with the program.
const RENEW: &str = "run `tenter bridge renew`";
/// The time limit for the program to print its version.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Prints a warning if agents run a program that is missing or outdated. It costs two system calls if all is well.
pub fn warn_if_outdated(env: &Env) {
    let problem = match program_state(&env.home) {
        ProgramState::Current => return,
        ProgramState::Missing => "is missing, so none of your hooks runs in your agents".to_owned(),
        ProgramState::Outdated(version) => older(version),
    };
    if registry(env).records().is_empty() {
        return;
    }
    ui::note(format!("warning: {} {problem}; {RENEW}", program_path(&env.home).display()));
}

/// Starts the registered program and the launcher beside it, and returns what is wrong with them; nothing if nothing is registered.
pub(crate) fn examine(env: &Env) -> Vec<Diagnostic> {
    if registry(env).records().is_empty() {
        return Vec::new();
    }
    program(env).into_iter().chain(launcher(env)).collect()
}

fn program(env: &Env) -> Option<Diagnostic> {
    let path = program_path(&env.home);
    let (id, severity, words) = match program_state(&env.home) {
        ProgramState::Missing => {
            (MISSING, Severity::Error, "is missing, so none of your hooks runs".to_owned())
        }
        ProgramState::Current | ProgramState::Outdated(_) => {
            let (severity, words) = problem_of(&print_version(env, path.clone()))?;
            (ID, severity, words)
        }
    };
    let message = format!("the program that agents run {words}");
    Some(Diagnostic::new(id, severity, message).at(path).help(RENEW))
}

/// Returns what is wrong with the launcher. One that is missing is missed only if this version has one.
fn launcher(env: &Env) -> Option<Diagnostic> {
    let path = launcher_path(&env.home);
    let (severity, words) = if path.is_file() {
        problem_of(&print_version(env, path.clone()))?
    } else {
        program_beside(&Env::program(), LAUNCHER)?;
        (Severity::Warning, "is missing, so they start slower".to_owned())
    };
    let message = format!("the launcher of confined commands {words}");
    Some(Diagnostic::new("bridge-launcher", severity, message).at(path).help(RENEW))
}

fn print_version(env: &Env, program: PathBuf) -> Completion {
    let invocation = Invocation {
        program,
        args: vec!["--version".into()],
        cwd: env.home.clone(),
        limits: Limits { timeout: TIMEOUT, ..Limits::default() },
        ..Invocation::default()
    };
    tenter_proc::run(&invocation, &Cancel::new())
}

/// Returns what is wrong with a program that was asked for its version.
fn problem_of(completion: &Completion) -> Option<(Severity, String)> {
    match &completion.end {
        ProcessEnd::Exited(0) => {}
        ProcessEnd::NotStarted(error) => {
            return Some((Severity::Error, format!("cannot be started: {error}")));
        }
        // Versions before 0.2.0 have no such option.
        ProcessEnd::Exited(_) => return Some((Severity::Warning, older(None))),
        end => return Some((Severity::Error, git::how(end))),
    }
    let text = completion.stdout.text();
    let version = text.trim().rsplit(' ').next().and_then(HostVersion::parse);
    let is_current = version.is_some_and(|version| version >= own_version());
    (!is_current).then(|| (Severity::Warning, older(version)))
}

fn older(version: Option<HostVersion>) -> String {
    let version =
        version.map_or_else(|| "an earlier version".to_owned(), |version| version.to_string());
    format!("is {version}, and this is tenter {}", own_version())
}
