//! Sessions of Gemini CLI.

use std::fs;

use serde_json::{Value, json};

use crate::host_session::HostSession;

const CALL: &str = "BeforeTool.run_shell_command";
const RESULT: &str = "AfterTool.run_shell_command";

fn session() -> HostSession {
    HostSession::new("gemini")
}

#[test]
fn the_context_of_a_call_comes_with_its_result() {
    let session = session();
    session.reply("hint", "before_tool", r#"{"additional_context": "Mind the gap."}"#);
    assert!(session.answer(CALL).is_null());
    let result = session.answer(RESULT);
    assert_eq!(result["hookSpecificOutput"]["additionalContext"], "[hook hint] Mind the gap.");
}

#[test]
fn a_stop_is_counted_by_us_and_the_injected_message_is_none_of_the_users() {
    let session = session();
    session.reply("again", "before_stop", r#"{"follow_up_messages": ["Run the tests."]}"#);
    session.hook("seen", "before_agent", "", r#"printf '%s\n' "$payload" >> "$HOME/prompts""#);
    session.pass("SessionStart");
    session.pass("BeforeAgent");
    for _ in 0..8 {
        let stop = session.answer("AfterAgent");
        assert_eq!(stop, json!({"decision": "deny", "reason": "[hook again] Run the tests."}));
        let injected =
            session.fire_with("BeforeAgent", |prompt| prompt["prompt"] = stop["reason"].clone());
        assert!(HostSession::read_answer(injected).is_null());
    }
    let stop = session.answer("AfterAgent");
    assert!(stop["decision"].is_null());
    assert!(stop["systemMessage"].as_str().unwrap().contains("8 times in a row"), "{stop}");
    let prompts = fs::read_to_string(session.sandbox.home().join("prompts")).unwrap();
    assert_eq!(prompts.lines().count(), 1);
}

#[test]
fn a_question_is_put_if_the_user_wants_that() {
    let ask = r#"echo '{"decision": "ask", "reason": "really?"}'"#;
    let session = session();
    session.configure("[bridge.gemini]\nask = \"native\"\n");
    session.hook("first", "before_tool", "", ask);
    let question = json!({"decision": "ask", "systemMessage": "hook first: really?"});
    assert_eq!(session.answer(CALL), question);
}

#[test]
fn hooks_see_which_files_a_rewritten_command_changed() {
    let session = session();
    let rewrite = r#"echo '{"modified_input": {"command": "touch new"}}'"#;
    session.hook("rewrite", "before_tool", "", rewrite);
    session.hook("seen", "after_tool", "", r#"printf '%s\n' "$payload" > "$HOME/seen""#);
    let _ = session.sandbox.shell("git init -q .").expect_code(0);
    let input = &session.answer(CALL)["hookSpecificOutput"]["tool_input"];
    assert_eq!(input["command"], "touch new");
    session.sandbox.write("new", "");
    let result = session.fire_with(RESULT, |result| result["tool_input"] = input.clone());
    assert!(HostSession::read_answer(result).is_null());
    let text = fs::read_to_string(session.sandbox.home().join("seen")).unwrap();
    let payload: Value = serde_json::from_str(&text).unwrap();
    let changes = &payload["tool_output"]["metadata"]["changed"];
    // On a slow machine git takes too long.
    let is_listed = changes["files"][0] == json!({"path": "new", "change": "created"});
    assert!(is_listed || changes["truncated"] == true, "{payload}");
}

#[test]
fn an_equal_call_that_passes_later_is_no_breach() {
    let session = session();
    let once = r#"[ -e "$HOME/denied" ] || { touch "$HOME/denied"; echo no >&2; exit 2; }"#;
    session.hook("once", "before_tool", "", once);
    assert_eq!(session.answer(CALL)["decision"], "deny");
    assert!(session.answer(CALL).is_null());
    assert!(session.answer(RESULT).is_null());
    let breach = session.answer(RESULT);
    let notice = breach["systemMessage"].as_str().unwrap();
    assert!(notice.contains("ran a call of run_shell_command that a hook had denied"), "{notice}");
}

#[test]
fn the_tools_of_servers_have_the_names_that_hooks_know() {
    let session = session();
    session.hook(
        "server",
        "before_tool",
        "matcher: {tool: '^mcp__my_git__log$'}",
        "echo no >&2; exit 2",
    );
    let call = session.fire_with(CALL, |call| {
        call["tool_name"] = json!("mcp_my_git_log");
        call["mcp_context"] = json!({"server_name": "my_git", "tool_name": "log"});
    });
    assert_eq!(HostSession::read_answer(call)["decision"], "deny");
}
