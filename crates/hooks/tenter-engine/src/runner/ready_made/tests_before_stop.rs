//! `tests-before-stop`: runs the tests when the agent is about to stop, and makes it continue if they fail.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tenter_base::{excerpt, untrusted_file};
use tenter_proc::ProcessEnd;
use tenter_protocol::event::StopReason;
use tenter_protocol::{Body, Reply};

use super::call::ReadyMadeCall;

/// Maximum size of a file that is searched for tests, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The state of a conversation.
#[derive(Default, Serialize, Deserialize)]
struct TestState {
    #[serde(rename = "changed")]
    has_untested_changes: bool,
    /// Number of failures in a row, since the last message of the user.
    failures: u32,
}

pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    match call.body() {
        Body::BeforeAgent { .. } => {
            call.change_state(|state: &mut TestState| state.failures = 0)?;
        }
        Body::AfterTool { .. } if call.changes_project() => {
            call.change_state(|state: &mut TestState| state.has_untested_changes = true)?;
        }
        Body::BeforeStop(stop) if stop.reason != StopReason::TurnLimit => return before_stop(call),
        _ => {}
    }
    Ok(Reply::default())
}

fn before_stop(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    let attempts = call.number("attempts");
    let only_after_changes = call.is_on("only-after-changes");
    let is_due = call.change_state(|state: &mut TestState| {
        (state.has_untested_changes || !only_after_changes) && state.failures < attempts
    })?;
    let command = match call.text("command") {
        "" => usual_command(call.project()),
        command => Some(command),
    };
    let Some(command) = command.filter(|_| is_due) else { return Ok(Reply::default()) };
    let completion = call.run_shell(command, Vec::new());
    let why = match &completion.end {
        ProcessEnd::Exited(0) => {
            call.change_state(|state: &mut TestState| *state = TestState::default())?;
            return Ok(Reply::default());
        }
        ProcessEnd::Exited(code) => format!("failed with exit code {code}"),
        ProcessEnd::Signalled(signal) => format!("was ended by signal {signal}"),
        ProcessEnd::TimedOut => "took too long".to_owned(),
        ProcessEnd::Cancelled => return Ok(Reply::default()),
        ProcessEnd::NotStarted(error) => {
            return Err(format!("`{command}` cannot be started: {error}"));
        }
    };
    let failures = call.change_state(|state: &mut TestState| {
        state.failures += 1;
        state.failures
    })?;
    let output = completion.stdout.text();
    let output = excerpt::last_lines(output.trim_end(), call.number("lines").max(1) as usize);
    let last = if failures >= attempts {
        " This was the last attempt: say what is still broken."
    } else {
        ""
    };
    Ok(super::deny(format!(
        "`{command}` {why}. Make the tests pass before you stop.{last}\n{output}"
    )))
}

/// Returns the command that runs the tests of most projects with these files.
fn usual_command(project: &Path) -> Option<&'static str> {
    let has = |name: &str| project.join(name).exists();
    let contains = |name: &str, text: &str| {
        let bytes = untrusted_file::read_prefix(&project.join(name), MAX_FILE).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(text)
    };
    let has_target = || {
        let bytes = untrusted_file::read_prefix(&project.join("Makefile"), MAX_FILE);
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        text.lines().any(|line| line.starts_with("test:"))
    };
    if has("Cargo.toml") {
        Some("cargo test --quiet")
    } else if has("go.mod") {
        Some("go test ./...")
    } else if contains("package.json", "\"test\":") {
        let package_managers = [
            ("pnpm-lock.yaml", "pnpm test"),
            ("yarn.lock", "yarn test"),
            ("bun.lock", "bun run test"),
        ];
        let own = package_managers.into_iter().find(|(file, _)| has(file));
        Some(own.map_or("npm test --silent", |(_, command)| command))
    } else if has_target() {
        Some("make test")
    } else if has("pytest.ini") || contains("pyproject.toml", "pytest") || has("tests/conftest.py")
    {
        Some("python3 -m pytest -q")
    } else {
        None
    }
}
