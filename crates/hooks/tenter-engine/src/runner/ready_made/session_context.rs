//! `session-context`: gives the model the state of the project when a session starts.

use tenter_base::{excerpt, sanitize, untrusted_file};
use tenter_protocol::{Body, Reply};

use super::call::ReadyMadeCall;

/// Maximum size of a file with tasks, in bytes.
const MAX_TASKS: u64 = 256 << 10;
/// Maximum number of lines of the output of a check.
const CHECK_LINES: usize = 20;

#[expect(clippy::unnecessary_wraps, reason = "the form of every ready-made hook")]
pub(super) fn reply(call: &ReadyMadeCall<'_>) -> Result<Reply, String> {
    if !matches!(call.body(), Body::SessionStart(_)) {
        return Ok(Reply::default());
    }
    let parts = [git_state(call), tasks(call), failing_checks(call)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return Ok(Reply::default());
    }
    let text = parts.join("\n\n");
    Ok(super::context(format!(
        "The state of the project at the start of this session:\n\n{}",
        sanitize(&text)
    )))
}

/// Returns the branch, the changed files and the last commits.
fn git_state(call: &ReadyMadeCall<'_>) -> Option<String> {
    let status = call.git(&["status", "--short", "--branch", "--untracked-files=normal"])?;
    let mut lines = status.lines();
    let branch = lines.next().unwrap_or_default().trim_start_matches("## ");
    let changes: Vec<&str> = lines.collect();
    let files = call.number("files") as usize;
    let mut lines = vec![format!("Branch: {branch}")];
    if changes.is_empty() {
        lines.push("No uncommitted changes".to_owned());
    } else {
        lines.push(format!("Uncommitted changes ({}):", changes.len()));
        lines.extend(changes.iter().take(files).map(|line| (*line).to_owned()));
    }
    if changes.len() > files {
        lines.push(format!("… and {} more", changes.len() - files));
    }
    let commits = format!("-{}", call.number("commits"));
    let log = call.git(&["log", "--no-show-signature", "--format=%h %s", &commits, "--"]);
    if let Some(log) = log.filter(|log| !log.trim().is_empty()) {
        lines.push(format!("Last commits:\n{}", log.trim_end()));
    }
    Some(lines.join("\n"))
}

/// Returns the open tasks in the files of the setting `tasks`: lines such as `- [ ] Write the page`.
fn tasks(call: &ReadyMadeCall<'_>) -> Option<String> {
    let mut tasks = Vec::new();
    for name in call.list("tasks") {
        let file = call.project().join(name);
        let bytes = untrusted_file::read_prefix(&file, MAX_TASKS).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let open = text.lines().map(str::trim).filter(|line| {
            let line = line.trim_start_matches(['-', '*', '+']).trim_start();
            line.starts_with("[ ]")
        });
        tasks.extend(open.map(|line| format!("{name}: {line}")));
    }
    tasks.truncate(call.number("files") as usize);
    (!tasks.is_empty()).then(|| format!("Open tasks:\n{}", tasks.join("\n")))
}

/// Returns the output of the commands of the setting `checks` that fail.
fn failing_checks(call: &ReadyMadeCall<'_>) -> Option<String> {
    let mut failing = Vec::new();
    for command in call.list("checks") {
        let completion = call.run_shell(command, Vec::new());
        if !completion.end.is_success() {
            let output = completion.stdout.text();
            let output = excerpt::last_lines(output.trim_end(), CHECK_LINES);
            failing.push(format!("`{command}` fails:\n{output}"));
        }
    }
    (!failing.is_empty()).then(|| failing.join("\n\n"))
}
