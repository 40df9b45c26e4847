//! Sessions of Qwen Code.

use std::fs;

use serde_json::{Value, json};

use crate::host_session::HostSession;

const CALL: &str = "PreToolUse.run_shell_command";
const RESULT: &str = "PostToolUse.run_shell_command";

fn session() -> HostSession {
    HostSession::new("qwen")
}

fn denial(answer: &Value) -> &str {
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{answer}");
    specific["permissionDecisionReason"].as_str().unwrap()
}

#[test]
fn a_changed_call_is_asked_of_the_model_and_runs_when_the_model_makes_it() {
    let session = session();
    session.reply("fix", "before_tool", r#"{"modified_input": {"command": "true"}}"#);
    let first = session.answer(CALL);
    let reason = denial(&first);
    assert!(reason.ends_with(r#"run_shell_command instead: {"command":"true"}"#), "{reason}");
    let output = session.fire_with(CALL, |call| {
        call["tool_input"] = json!({"command": "true"});
        call["tool_call_id"] = json!("second");
    });
    assert!(HostSession::read_answer(output).is_null());
    for _ in 0..2 {
        assert!(denial(&session.answer(CALL)).contains("instead"));
    }
    assert!(denial(&session.answer(CALL)).contains("The call cannot be made"));
    session.pass("UserPromptSubmit");
    assert!(denial(&session.answer(CALL)).contains("instead"), "a message starts anew");
}

#[test]
fn only_the_first_of_the_events_of_a_prompt_is_a_message() {
    let session = session();
    session.hook("seen", "before_agent", "", r#"echo x >> "$HOME/prompts""#);
    session.pass("SessionStart");
    for fixture in ["UserPromptSubmit", "UserPromptSubmit.2", "UserPromptSubmit"] {
        assert!(session.answer(fixture).is_null());
    }
    let count =
        || fs::read_to_string(session.sandbox.home().join("prompts")).unwrap().lines().count();
    assert_eq!(count(), 1);
    let next = session.fire_with("UserPromptSubmit", |prompt| prompt["prompt_id"] = json!("next"));
    assert!(HostSession::read_answer(next).is_null());
    assert_eq!(count(), 2);
}

#[test]
fn calls_are_matched_by_the_id_that_stays() {
    let session = session();
    session.hook("guard", "before_tool", "", "echo no >&2; exit 2");
    session.pass(CALL);
    session.hook("guard", "before_tool", "", "exit 0");
    let result = session.fire_with(RESULT, |result| result["tool_use_id"] = json!("other"));
    let _ = HostSession::read_answer(result);
    let stop = session.answer("Stop");
    assert!(stop["systemMessage"].as_str().unwrap().contains("that a hook had denied"), "{stop}");
}

#[test]
fn a_hook_that_must_see_results_keeps_calls_from_running() {
    for (setting, is_denied) in [("", true), ("[bridge]\nunguardable = \"pass\"\n", false)] {
        let session = session();
        session.configure(setting);
        session.hook("mask", "after_tool", "metadata: {fail: closed}", "exit 0");
        let call = session.answer(CALL);
        assert_eq!(!call.is_null(), is_denied, "{call}");
        if is_denied {
            assert!(denial(&call).contains("bridge.unguardable"));
        }
    }
}

#[test]
fn an_allow_says_nothing() {
    let session = session();
    session.configure("[bridge]\nallow_skips_prompt = true\n");
    session.reply("may", "before_tool", r#"{"decision": "allow"}"#);
    assert!(session.answer(CALL).is_null());
}
