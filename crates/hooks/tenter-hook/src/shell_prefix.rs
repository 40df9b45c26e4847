//! The program that Claude Code runs commands with: it confines those for which a hook decided so, and runs all others as they are.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use tenter_bridge::shell_prefix::{PendingCommand, SESSION};
use tenter_confine::{Surroundings, launcher};
use tenter_engine::Directories;

/// The exit code if the shell does not start.
const NOT_STARTED: u8 = 126;

/// Runs the command, which is the last argument, in the user's shell.
pub(crate) fn run(arguments: &[OsString], surroundings: Surroundings) -> ExitCode {
    let Some(command) = arguments.last() else { return ExitCode::from(NOT_STARTED) };
    let variable =
        |name: &str| surroundings.env.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let shell = variable("SHELL").cloned().unwrap_or_else(|| "/bin/bash".into());
    let text = command.to_string_lossy();
    let home = variable("HOME").map_or_else(|| surroundings.home.clone(), PathBuf::from);
    let state = Directories::in_home(home).state;
    let session = variable(SESSION).map(|session| session.to_string_lossy().into_owned());
    let pending = session.and_then(|session| PendingCommand::take(&state, &session, &text));
    if let Some(pending) = pending.map(|pending| pending.with_directory_file(&text)) {
        return confine(&pending, [shell, "-c".into(), command.clone()], surroundings);
    }
    #[expect(clippy::disallowed_methods, reason = "the process becomes the command")]
    let error = Command::new(&shell).arg("-c").arg(command).exec();
    let _ = writeln!(std::io::stderr(), "tenter-hook: {}: {error}", shell.display());
    ExitCode::from(NOT_STARTED)
}

fn confine(
    pending: &PendingCommand,
    command: [OsString; 3],
    surroundings: Surroundings,
) -> ExitCode {
    let spec = serde_json::to_string(&pending.confinements).unwrap_or_default();
    let mut arguments: Vec<OsString> = vec!["--spec".into(), spec.into(), "--project".into()];
    arguments.push(pending.project.clone().into());
    if let Some(note) = &pending.note {
        arguments.extend(["--check-in".into(), note.clone().into()]);
    }
    arguments.push("--".into());
    arguments.extend(command);
    launcher::run(&arguments, surroundings, launcher::configured_profile)
}
