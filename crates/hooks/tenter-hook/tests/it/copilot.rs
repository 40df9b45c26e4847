//! Sessions of Copilot CLI, also with the hooks in Claude Code's settings.

use serde_json::json;

use crate::host_session::HostSession;

fn session() -> HostSession {
    HostSession::new("copilot")
}

#[test]
fn every_denial_is_in_the_form_that_copilot_honours() {
    for host in ["copilot", "copilot-in-claude"] {
        let session = HostSession::new(host);
        session.hook("tool", "before_tool", "", "exit 2");
        session.hook("prompt", "before_agent", "", "exit 2");
        let [tool, prompt] = match host {
            "copilot" => ["preToolUse.bash", "userPromptSubmitted"],
            _ => ["PreToolUse.Bash", "UserPromptSubmit"],
        };
        let answer = HostSession::answer(session.fire(tool));
        assert_eq!(answer["permissionDecision"], "deny", "{host}");
        assert!(answer["permissionDecisionReason"].as_str().unwrap().starts_with("hook tool: "));
        let answer = HostSession::answer(session.fire(prompt));
        assert_eq!(answer["decision"], "block", "{host}");
        assert!(answer["reason"].as_str().unwrap().starts_with("hook prompt: "));
    }
}

#[test]
fn a_rewritten_input_is_whole_and_skips_no_question() {
    let session = session();
    session.hook(
        "rewrite",
        "before_tool",
        "",
        r#"echo '{"modified_input": {"command": "true", "description": "run"}}'"#,
    );
    let answer = HostSession::answer(session.fire("preToolUse.bash"));
    assert_eq!(answer, json!({"modifiedArgs": {"command": "true", "description": "run"}}));
}

#[test]
fn the_input_of_a_tool_without_fields_is_a_text() {
    let session = session();
    session.log("log", "before_tool", "");
    session.pass("preToolUse.apply_patch");
    let payload = &session.payloads()[0];
    assert!(payload["tool_input"]["patch"].as_str().unwrap().starts_with("*** Begin Patch"));
    session.hook("rewrite", "before_tool", "", r#"echo '{"modified_input": {"patch": "other"}}'"#);
    let answer = HostSession::answer(session.fire("preToolUse.apply_patch"));
    assert_eq!(answer, json!({"modifiedArgs": "other"}));
}

#[test]
fn a_rewritten_message_replaces_the_users_and_keeps_what_copilot_adds() {
    let session = session();
    let event = "userPromptTransformed";
    session.hook("mask", "before_agent", "", r#"echo '{"modified_prompt": "masked"}'"#);
    assert!(HostSession::answer(session.fire(event)).is_null(), "nothing is known of it");
    assert!(HostSession::answer(session.fire("userPromptSubmitted")).is_null());
    let answer = HostSession::answer(session.fire(event));
    let text = answer["modifiedTransformedPrompt"].as_str().unwrap();
    assert!(text.starts_with("<current_datetime>") && text.contains("\n\nmasked"), "{text}");
    assert!(!text.contains("Please run the test"), "{text}");
    assert!(HostSession::answer(session.fire(event)).is_null(), "it is given once");
}

#[test]
fn a_command_that_fails_is_known_by_its_exit_code() {
    let session = session();
    session.log("log", "after_tool_failure", "");
    for fixture in ["postToolUse.bash", "postToolUse.bash.async", "postToolUse.bash.failure"] {
        session.pass(fixture);
    }
    session.pass("postToolUseFailure.view");
    let payloads = session.payloads();
    assert_eq!(payloads.len(), 2);
    assert_eq!(payloads[0]["tool_output"]["metadata"]["exitCode"], 3, "{}", payloads[0]);
    assert_eq!(payloads[0]["tool_output"]["metadata"]["output"], "oops");
    assert_eq!(payloads[1]["tool_output"]["error"], "Path does not exist");
}

#[test]
fn a_changed_output_keeps_the_line_with_the_exit_code() {
    let session = session();
    let script = r#"echo '{"modified_output": {"metadata": {"output": "[masked]"}}}'"#;
    session.hook("mask", "after_tool", "", script);
    let answer = HostSession::answer(session.fire("postToolUse.bash"));
    let result = json!({"resultType": "success", "textResultForLlm": "[masked]\n<shellId: 0 completed with exit code 0>"});
    assert_eq!(answer, json!({"modifiedResult": result}));
}

#[test]
fn the_state_of_nested_subagents_belongs_to_the_main_agents_session() {
    let session = session();
    session.log("log", "before_tool", "");
    for fixture in [
        "preToolUse.task.subagent",
        "subagentStart.subagent",
        "preToolUse.bash.subagent",
        "subagentStart.nested",
        "preToolUse.bash.nested",
    ] {
        session.pass(fixture);
    }
    let payloads = session.payloads();
    let ids: Vec<&str> =
        payloads.iter().map(|payload| payload["session_id"].as_str().unwrap()).collect();
    let root = "b1f938b2-63aa-4a6f-a1a4-96932a9bf628";
    let [main, child, nested] = ids.as_slice() else { panic!("{ids:?}") };
    assert_eq!(*main, root);
    assert_eq!(*child, format!("{root}/c4ef65ce-bb1f-48f5-a8fb-f8274234f072"));
    assert_eq!(*nested, format!("{root}/bb9ad251-6737-4f31-ac3d-a3c016f4d30f"));
}

#[test]
fn a_blocked_session_denies_the_calls_of_nested_subagents() {
    let session = session();
    session.hook("gate", "session_start", "", "echo closed >&2; exit 2");
    for fixture in ["preToolUse.task.subagent", "subagentStart.subagent", "subagentStart.nested"] {
        session.pass(fixture);
    }
    let answer = HostSession::answer(session.fire("preToolUse.bash.nested"));
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
}

#[test]
fn an_agent_continues_with_a_message_that_is_not_the_users() {
    let session = session();
    session.hook(
        "again",
        "before_stop",
        "",
        r#"echo '{"follow_up_messages": ["Run the tests."]}'"#,
    );
    session.log("log", "before_agent", "");
    for _ in 0..8 {
        let answer = HostSession::answer(session.fire("agentStop"));
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
    session.hook(
        "again",
        "before_stop",
        "",
        r#"echo '{"follow_up_messages": ["Run the tests."]}'"#,
    );
    session.pass("preToolUse.task.subagent");
    session.pass("subagentStart.subagent");
    assert!(HostSession::answer(session.fire("agentStop.subagent")).is_null());
    let answer = HostSession::answer(session.fire("subagentStop.subagent"));
    assert_eq!(answer["decision"], "block", "{answer}");
}

#[test]
fn a_report_of_background_work_is_a_message_since_a_user_could_type_it() {
    let session = session();
    session.hook("never", "before_agent", "", "echo no >&2; exit 2");
    let answer = HostSession::answer(session.fire("userPromptSubmitted.notification"));
    assert_eq!(answer, json!({"decision": "block", "reason": "hook never: no"}));
}

#[test]
fn an_equal_call_that_passes_after_a_denied_one_is_no_breach() {
    let session = session();
    let guard = session.hook("guard", "before_tool", "", "exit 2");
    session.pass("preToolUse.bash");
    std::fs::remove_dir_all(guard).unwrap();
    session.pass("preToolUse.bash");
    session.pass("postToolUse.bash");
    assert!(HostSession::answer(session.fire("agentStop")).is_null());
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
fn hooks_in_claude_codes_settings_know_that_copilot_runs_them() {
    let session = HostSession::new("copilot-in-claude");
    session.log("log", "before_tool", "");
    session.hook("greet", "before_agent", "", r#"echo '{"additional_context": "Hello."}'"#);
    for fixture in [
        "PreToolUse.Write",
        "PreToolUse.Agent.subagent",
        "SubagentStart.subagent",
        "PreToolUse.Bash.subagent",
    ] {
        session.pass(fixture);
    }
    let payloads = session.payloads();
    assert_eq!(payloads[0]["host"]["name"], "copilot");
    assert_eq!(payloads[0]["tool_input"]["text"], "written by tool\n");
    let root = payloads[1]["session_id"].as_str().unwrap();
    assert!(payloads[2]["session_id"].as_str().unwrap().starts_with(&format!("{root}/")));
    let answer = HostSession::answer(session.fire("UserPromptSubmit"));
    assert_eq!(answer, json!({"additionalContext": "[hook greet] Hello."}));
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
