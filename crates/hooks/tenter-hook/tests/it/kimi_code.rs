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
fn every_denial_is_in_the_form_that_kimi_code_honours() {
    let session = session();
    session.hook("tool", "before_tool", "", "echo no >&2; exit 2");
    session.hook("prompt", "before_agent", "", "echo no >&2; exit 2");
    let answer = HostSession::answer(session.fire("PreToolUse.Bash"));
    assert_eq!(answer, denial("hook tool: no"));
    let answer = HostSession::answer(session.fire("UserPromptSubmit"));
    assert_eq!(answer, denial("hook prompt: no"));
}

#[test]
fn a_question_is_a_denial_because_kimi_code_would_run_the_call() {
    let session = session();
    session.hook("ask", "before_tool", "", r#"echo '{"decision": "ask", "reason": "really?"}'"#);
    let answer = HostSession::answer(session.fire("PreToolUse.Bash"));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{answer}");
}

#[test]
fn a_changed_call_is_demanded_of_the_model_and_then_runs() {
    let session = session();
    let script =
        r#"case "$payload" in *hello*) echo '{"modified_input": {"command": "true"}}';; esac"#;
    session.hook("rewrite", "before_tool", "", script);
    let answer = HostSession::answer(session.fire("PreToolUse.Bash"));
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains(r#"Make this call of Bash instead: {"command":"true"}"#), "{reason}");
    let output = session
        .fire_with("PreToolUse.Bash", |call| call["tool_input"] = json!({"command": "true"}));
    assert!(HostSession::answer(output).is_null());
}

#[test]
fn contexts_wait_for_the_next_prompt_and_are_plain_text() {
    let session = session();
    session.hook("note", "before_tool", "", r#"echo '{"additional_context": "Mind the gap."}'"#);
    assert!(HostSession::answer(session.fire("PreToolUse.Bash")).is_null());
    let answer = HostSession::answer(session.fire("UserPromptSubmit"));
    assert_eq!(answer, "[hook note] Mind the gap.");
    assert!(HostSession::answer(session.fire("UserPromptSubmit")).is_null(), "it is given once");
}

#[test]
fn the_agent_continues_once() {
    let session = session();
    session.hook(
        "again",
        "before_stop",
        "",
        r#"echo '{"follow_up_messages": ["Run the tests."]}'"#,
    );
    session.pass("SessionStart");
    let answer = HostSession::answer(session.fire("Stop"));
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
    let reason = HostSession::answer(session.fire("PreToolUse.Bash"));
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

#[test]
fn compactions_have_their_size() {
    let session = session();
    session.log("before", "pre_compact", "");
    session.log("after", "post_compact", "");
    session.pass("PreCompact.compact");
    session.pass("PostCompact.compact");
    let payloads = session.payloads();
    assert_eq!(payloads[0]["tokens_before"], 23_793, "{}", payloads[0]);
    assert_eq!(payloads[1]["tokens_after"], 20_752, "{}", payloads[1]);
}

#[test]
fn a_subagent_is_known_by_its_call() {
    let session = session();
    session.log("start", "subagent_start", "");
    session.log("stop", "subagent_stop", "");
    session.pass("PreToolUse.Agent.subagent");
    session.pass("PostToolUse.Agent.subagent");
    let payloads = session.payloads();
    assert_eq!(payloads[0]["task_description"], "SUBTASK-MARK please make a file");
    assert_eq!(payloads[1]["event_type"], "subagent_stop");
}
