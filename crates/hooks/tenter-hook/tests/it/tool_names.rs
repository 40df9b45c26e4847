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
    if output.stdout.is_empty() { Value::Null } else { HostSession::read_answer(output) }
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
