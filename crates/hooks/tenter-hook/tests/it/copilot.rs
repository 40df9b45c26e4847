//! Sessions of Copilot CLI, also with the hooks in Claude Code's settings.

use serde_json::json;

use crate::host_session::HostSession;

fn session() -> HostSession {
    HostSession::new("copilot")
}

#[test]
fn the_input_of_a_tool_without_fields_is_a_text() {
    let session = session();
    session.reply("rewrite", "before_tool", r#"{"modified_input": {"patch": "other"}}"#);
    let answer = session.answer("preToolUse.apply_patch");
    assert_eq!(answer, json!({"modifiedArgs": "other"}));
}

#[test]
fn a_rewritten_message_replaces_the_users_and_keeps_what_copilot_adds() {
    let session = session();
    let event = "userPromptTransformed";
    session.reply("mask", "before_agent", r#"{"modified_prompt": "masked"}"#);
    assert!(session.answer(event).is_null(), "nothing is known of it");
    assert!(session.answer("userPromptSubmitted").is_null());
    let answer = session.answer(event);
    let text = answer["modifiedTransformedPrompt"].as_str().unwrap();
    assert!(text.starts_with("<current_datetime>") && text.contains("\n\nmasked"), "{text}");
    assert!(!text.contains("Please run the test"), "{text}");
    assert!(session.answer(event).is_null(), "it is given once");
}

#[test]
fn a_blocked_session_denies_the_calls_of_nested_subagents() {
    let session = session();
    session.hook("gate", "session_start", "", "echo closed >&2; exit 2");
    for fixture in ["preToolUse.task.subagent", "subagentStart.subagent", "subagentStart.nested"] {
        session.pass(fixture);
    }
    let answer = session.answer("preToolUse.bash.nested");
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
}

#[test]
fn an_agent_continues_with_a_message_that_is_not_the_users() {
    let session = session();
    session.reply("again", "before_stop", r#"{"follow_up_messages": ["Run the tests."]}"#);
    session.log("log", "before_agent", "");
    for _ in 0..8 {
        let answer = session.answer("agentStop");
        assert_eq!(answer["decision"], "block", "{answer}");
        let injected = answer["reason"].clone();
        let id = session.payload("agentStop")["sessionId"].clone();
        let _ = session.fire_with("userPromptSubmitted", |prompt| {
            prompt["prompt"] = injected;
            prompt["sessionId"] = id;
        });
    }
    let output = session.fire("agentStop").expect_code(0);
    assert_eq!(output.stdout, "", "a notice is no answer");
    assert!(output.stderr.contains("8 times in a row"), "{output}");
    assert!(session.payloads().is_empty());
}

#[test]
fn a_subagent_is_continued_at_its_own_event_alone() {
    let session = session();
    session.reply("again", "before_stop", r#"{"follow_up_messages": ["Run the tests."]}"#);
    session.pass("preToolUse.task.subagent");
    session.pass("subagentStart.subagent");
    assert!(session.answer("agentStop.subagent").is_null());
    let answer = session.answer("subagentStop.subagent");
    assert_eq!(answer["decision"], "block", "{answer}");
}

#[test]
fn an_equal_call_that_passes_after_a_denied_one_is_no_breach() {
    let session = session();
    let guard = session.hook("guard", "before_tool", "", "exit 2");
    session.pass("preToolUse.bash");
    std::fs::remove_dir_all(guard).unwrap();
    session.pass("preToolUse.bash");
    session.pass("postToolUse.bash");
    assert!(session.answer("agentStop").is_null());
    let output = session.fire("postToolUse.bash").expect_code(0);
    assert_eq!(output.stdout, "", "a notice is no answer");
    assert!(output.stderr.contains("ran a call of bash that a hook had denied"), "{output}");
}

#[test]
fn a_start_and_a_message_at_the_same_time_start_the_session_once() {
    let session = session();
    session.hook("start", "session_start", "", r#"echo x >> "$HOME/starts"; sleep 0.1"#);
    let outputs = std::thread::scope(|scope| {
        let session = &session;
        let fire = |fixture| scope.spawn(move || session.fire(fixture).expect_code(0));
        let event_output = ["sessionStart", "userPromptSubmitted", "preToolUse.bash"].map(fire);
        event_output.map(|thread| thread.join().unwrap())
    });
    // On a machine under load, a process may give up waiting for the state; it says so.
    let is_shared = outputs.iter().all(|output| output.stderr.is_empty());
    let starts = std::fs::read_to_string(session.sandbox.home().join("starts")).unwrap();
    assert!(starts == "x\n" || !is_shared, "{starts}");
}

#[test]
fn payloads_that_lack_what_copilot_writes_are_reported() {
    for (event, stdin, problem) in [
        ("preToolUse", r#"{"sessionId": "s", "cwd": "/"}"#, "the payload has no `toolName`"),
        ("preToolUse", r#"{"cwd": "/", "toolName": "bash"}"#, "the payload has no `sessionId`"),
        (
            "sessionStart",
            r#"{"sessionId": "s", "cwd": "/", "hook_event_name": "Stop"}"#,
            "is of the event",
        ),
    ] {
        let output = session().send(event, stdin).expect_code(0);
        assert!(output.stderr.contains(problem), "{output}");
        assert_eq!(output.stdout, "", "{output}");
    }
}
