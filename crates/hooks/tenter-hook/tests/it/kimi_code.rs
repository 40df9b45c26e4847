//! Sessions of Kimi Code.

use serde_json::{Value, json};
use tenter_testkit::wait_until;

use crate::host_session::HostSession;

fn session() -> HostSession {
    HostSession::new("kimi-code")
}

fn denial(reason: &str) -> Value {
    let specific = json!({"permissionDecision": "deny", "permissionDecisionReason": reason});
    json!({"hookSpecificOutput": specific})
}

#[test]
fn a_changed_call_is_demanded_of_the_model_and_then_runs() {
    let session = session();
    let script =
        r#"case "$payload" in *hello*) echo '{"modified_input": {"command": "true"}}';; esac"#;
    session.hook("rewrite", "before_tool", "", script);
    let answer = session.answer("PreToolUse.Bash");
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains(r#"Make this call of Bash instead: {"command":"true"}"#), "{reason}");
    let output = session
        .fire_with("PreToolUse.Bash", |call| call["tool_input"] = json!({"command": "true"}));
    assert!(HostSession::read_answer(output).is_null());
}

#[test]
fn contexts_wait_for_the_next_prompt_and_are_plain_text() {
    let session = session();
    session.reply("note", "before_tool", r#"{"additional_context": "Mind the gap."}"#);
    assert!(session.answer("PreToolUse.Bash").is_null());
    let answer = session.answer("UserPromptSubmit");
    assert_eq!(answer, "[hook note] Mind the gap.");
    assert!(session.answer("UserPromptSubmit").is_null(), "it is given once");
}

#[test]
fn the_agent_continues_once() {
    let session = session();
    session.reply("again", "before_stop", r#"{"follow_up_messages": ["Run the tests."]}"#);
    session.pass("SessionStart");
    let answer = session.answer("Stop");
    assert_eq!(answer, denial("[hook again] Run the tests."));
    let output = session.fire("Stop").expect_code(0);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("1 times in a row"), "{output}");
}

#[test]
fn a_prompt_is_the_texts_of_its_parts() {
    let session = session();
    session.log("log", "before_agent", "");
    let _ = session.fire_with("UserPromptSubmit", |prompt| {
        let parts = [
            json!({"type": "text", "text": "One."}),
            json!({"type": "image_url"}),
            json!({"type": "text", "text": "Two."}),
        ];
        prompt["prompt"] = json!(parts);
    });
    assert_eq!(session.payloads()[0]["prompt"], "One.\nTwo.");
}

#[test]
fn the_failure_of_a_denied_call_is_not_shown_twice() {
    let session = session();
    session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
    session.log("log", "after_tool_failure", "");
    let reason = session.answer("PreToolUse.Bash");
    wait_until("the failure of the denied call was shown", || session.payloads().len() == 1);
    let reason = reason["hookSpecificOutput"]["permissionDecisionReason"].clone();
    let id = session.payload("PreToolUse.Bash")["tool_call_id"].clone();
    let output = session.fire_with("PostToolUseFailure.Bash", |failure| {
        failure["session_id"] = session.payload("PreToolUse.Bash")["session_id"].clone();
        failure["tool_call_id"] = id;
        failure["error"]["message"] = reason;
    });
    let output = output.expect_code(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
    assert_eq!(session.payloads().len(), 1);
}

#[test]
fn a_denied_call_that_succeeds_is_reported_on_stderr() {
    let session = session();
    session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
    session.pass("PreToolUse.Bash");
    let output = session.fire("PostToolUse.Bash").expect_code(0);
    assert!(output.stderr.contains("ran a call of Bash that a hook had denied"), "{output}");
    assert_eq!(output.stdout, "");
}
