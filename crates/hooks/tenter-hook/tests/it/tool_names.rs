//! Names and answers of tools in hosts that have their own ways.

use serde_json::{Value, json};

use crate::host_session::HostSession;

/// Denies calls of the shell tool, by Tenter's name of it.
const DENY: &str = r#"case $payload in
*'"tool_name":"bash"'* | *'"tool_name": "bash"'*) echo '{"decision": "deny", "reason": "not this"}' ;;
esac"#;

fn is_denied(answer: &Value) -> bool {
    answer["decision"] == "deny" || answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

fn answer_to(session: &HostSession, fixture: &str, tool: &str) -> Value {
    let output = session.fire_with(fixture, |payload| {
        payload["tool_name"] = json!(tool);
        // Otherwise it is the same call.
        payload["tool_call_id"] = json!(tool);
        payload["tool_use_id"] = json!(tool);
    });
    if output.stdout.is_empty() { Value::Null } else { HostSession::answer(output) }
}

#[test]
fn a_guard_by_the_name_of_a_tool_applies_whatever_namespace_a_host_puts_before_it() {
    for (host, fixture, names) in [
        ("vibe", "pre_tool.bash", ["file_system.bash", "ns/bash", "a.b.bash"]),
        ("droid", "PreToolUse.Execute", ["core.Execute", "ns/Execute", "ns__Execute"]),
        ("claude-code", "PreToolUse.Bash", ["functions.Bash", "ns:Bash", "ns__Bash"]),
    ] {
        let session = HostSession::new(host);
        session.hook("guard", "before_tool", "", DENY);
        for name in names {
            assert!(is_denied(&answer_to(&session, fixture, name)), "{host} {name}");
        }
        let other = "mcp__files__Bash";
        let answer = answer_to(&session, fixture, other);
        assert!(!is_denied(&answer), "{host} {other} {answer}");
    }
}

#[test]
fn a_guard_by_the_name_of_the_shell_tool_applies_to_an_unknown_tool_with_a_command() {
    for (host, fixture) in [("vibe", "pre_tool.bash"), ("claude-code", "PreToolUse.Bash")] {
        let session = HostSession::new(host);
        let matcher = "matcher:\n  tool: ^Bash$";
        session.hook(
            "guard",
            "before_tool",
            matcher,
            r#"echo '{"decision": "deny", "reason": "no"}'"#,
        );
        assert!(is_denied(&answer_to(&session, fixture, "system.exec2")), "{host}");
        let answer = answer_to(&session, fixture, "mcp__server__exec2");
        assert!(!is_denied(&answer), "{host} {answer}");
    }
}

#[test]
fn unknown_tools_are_recorded_once_and_within_limits() {
    let session = HostSession::new("claude-code");
    let state = session.sandbox.home().join(".local/state/tenter");
    let host = tenter_bridge::hosts::find("claude-code").unwrap();
    let tools = || {
        let tools = tenter_bridge::unknown_tools::list(&state, host).into_iter();
        tools.map(|tool| tool.describe()).collect::<Vec<_>>()
    };
    answer_to(&session, "PreToolUse.Bash", "exec2");
    assert!(tools().is_empty(), "nothing is registered");
    std::fs::create_dir_all(state.join("bridge")).unwrap();
    for name in ["exec2", "Bash", "mcp__server__exec2", "exec2", "a\u{1b}[1mb\nc"] {
        answer_to(&session, "PreToolUse.Bash", name);
    }
    assert_eq!(tools(), ["exec2 (treated as bash)", "ab c (treated as bash)"]);
    for index in 0..70 {
        answer_to(&session, "PreToolUse.Bash", &format!("{}{index}", "x".repeat(500)));
    }
    assert_eq!(tools().len(), 3, "names that begin alike are one");
}

#[test]
fn a_command_with_another_return_code_than_0_failed_in_vibe() {
    let session = HostSession::new("vibe");
    session.hook("failed", "after_tool_failure", "", r#"printf '%s' "$payload" > "$HOME/failed""#);
    session.hook("passed", "after_tool", "", r#"printf '%s' "$payload" > "$HOME/passed""#);
    session.pass("post_tool.file_system_bash.failure");
    let home = session.sandbox.home();
    let text = std::fs::read_to_string(home.join("failed")).unwrap();
    let payload: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(payload["tool_name"], "bash");
    session.pass("post_tool.file_system_bash");
    assert!(home.join("passed").exists());
}

#[test]
fn a_question_is_a_denial_because_droid_would_run_the_call() {
    let session = HostSession::new("droid");
    session.hook("ask", "before_tool", "", r#"echo '{"decision": "ask", "reason": "really?"}'"#);
    let answer = answer_to(&session, "PreToolUse.Execute", "Execute");
    assert!(is_denied(&answer), "{answer}");
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("really?"), "{reason}");
}
