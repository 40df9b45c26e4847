//! The host was updated since hooks were registered.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::json;

use crate::host_session::HostSession;

/// Returns the first notice of a session with Claude Code of the `version` version, whose hooks were registered for 2.1.17.
fn notice(version: &str) -> Option<String> {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", "", "");
    let registration = json!({
        "host": "claude-code",
        "scope": "user",
        "file": "/home/ada/.claude/settings.json",
        "program": "/usr/bin/tenter-hook",
        "installed_at": "2026-11-22T18:00:00Z",
        "fail_closed": false,
        "version": "2.1.17",
    });
    let state = session.sandbox.home().join(".local/state/tenter/bridge");
    fs::create_dir_all(&state).unwrap();
    let records = json!({"registrations": [registration]}).to_string();
    fs::write(state.join("registrations.json"), records).unwrap();
    let package = session.sandbox.home().join("claude");
    fs::create_dir(&package).unwrap();
    let description = json!({"version": version, "bin": {"claude": "claude"}}).to_string();
    fs::write(package.join("package.json"), description).unwrap();
    fs::write(package.join("claude"), "").unwrap();
    fs::set_permissions(package.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();

    let mut command = session.sandbox.command();
    command.args(["claude-code", "SessionStart", "--home"]).arg(session.sandbox.home());
    command.env("PATH", format!("{}:/usr/bin:/bin", package.display()));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let payload = session.payload("SessionStart").to_string();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    // Claude Code shows notices of tool calls, not of a session's start.
    let answer = session.answer("PreToolUse.Bash");
    answer["systemMessage"].as_str().map(str::to_owned)
}

#[test]
fn the_user_reads_that_other_events_can_be_registered() {
    let notice = notice("2.1.330").unwrap();
    let words = "Claude Code is 2.1.330 now; hooks are registered for 2.1.17. Run `tenter bridge install claude-code`";
    assert!(notice.contains(words), "{notice}");
}

#[test]
fn an_update_that_changes_no_event_is_not_mentioned() {
    assert_eq!(notice("2.1.50"), None);
}
