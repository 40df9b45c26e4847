//! Wrong calls, and payloads that no host should write: a clear line on stderr, and a deny only where a hook fails closed.

use crate::host_session::HostSession;

const GUARD: &str = "metadata: {fail: closed}";

fn session(front_matter: &str) -> HostSession {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", front_matter, "exit 0");
    session
}

#[test]
fn unreadable_payloads_are_reported_and_denied_if_a_hook_fails_closed() {
    for (stdin, error) in [
        ("", "the payload is empty"),
        ("not JSON", "the payload is not JSON"),
        ("[]", "the payload is not a JSON object"),
        ("{}", "the payload has no `hook_event_name`"),
        (r#"{"hook_event_name": "Stop"}"#, "the payload is of the event \"Stop\""),
        (r#"{"hook_event_name": "PreToolUse"}"#, "the payload has no `session_id`"),
        (r#"{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/"}"#, "no `tool_name`"),
    ] {
        let open = session("").send("PreToolUse", stdin).expect_code(0);
        assert_eq!(open.stdout, "", "{stdin}");
        assert!(open.stderr.contains(error), "{stdin}: {open}");
        let closed = session(GUARD);
        let output = closed.send("PreToolUse", stdin);
        assert!(output.stderr.contains(error), "{output}");
        let answer = HostSession::answer(output)["hookSpecificOutput"].clone();
        assert_eq!(answer["permissionDecision"], "deny", "{stdin}");
        let reason = answer["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.starts_with("hook guard: it fails closed"), "{reason}");
    }
}

#[test]
fn deep_and_long_payloads_are_limited() {
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let output = session("").send("PreToolUse", deep).expect_code(0);
    assert!(output.stderr.contains("recursion limit"), "{output}");
    let closed = session(GUARD);
    let mut payload = closed.payload("PreToolUse.Write");
    payload["tool_input"]["content"] = "x".repeat(20 << 20).into();
    let output = closed.send("PreToolUse", payload.to_string());
    assert!(HostSession::answer(output).is_null(), "20 MiB are read");
}

#[test]
fn unknown_fields_of_newer_hosts_are_ignored() {
    let session = session(GUARD);
    let output = session.fire_with("PreToolUse.Bash", |payload| {
        payload["future"] = serde_json::json!({"deep": [1, 2, 3]});
    });
    assert!(HostSession::answer(output).is_null());
}

#[test]
fn a_wrong_registration_says_what_is_known() {
    let session = HostSession::new("claude-code");
    let output = session.sandbox.run(&["claude-code", "PreToolUs"]).expect_code(1);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("did you mean \"PreToolUse\"?"), "{output}");
}

#[test]
fn cursor_is_recognised_when_it_runs_the_hooks_of_claude_code() {
    let session = HostSession::new("claude-code");
    session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
    let mut payload = HostSession::new("cursor").payload("preToolUse.Shell");
    payload["cwd"] = session.sandbox.project().to_str().unwrap().into();
    for event in ["preToolUse", "PreToolUse"] {
        payload["hook_event_name"] = event.into();
        let answer = HostSession::answer(session.send("PreToolUse", payload.to_string()));
        assert_eq!(answer["permission"], "deny", "{answer}");
        assert_eq!(answer["agent_message"], "hook guard: no", "{answer}");
    }
}
