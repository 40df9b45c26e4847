//! Stopping an answer and ending a chat, by keys and by signals.

use tenter_testkit::pty::Signal;
use tenter_testkit::{PtySession, Sandbox, wait_until};

use super::{PROMPT, chat, say};
use crate::manifests::hook as manifest_hook;
use crate::run::wait_for_death;
use crate::sandbox;

/// Installs a hook that records how the session ends.
fn install_witness(sandbox: &Sandbox) {
    manifest_hook(sandbox, "witness", "session_end", "", "echo \"$payload\" >> ended");
}

/// Returns a chat with a slow model.
fn busy_chat(sandbox: &Sandbox) -> PtySession {
    let call = "tool_calls: [{name: bash, input: {command: echo under way}}]";
    let slow = "text: never, fault: {delay_ms: 600000}";
    let mut chat = chat(sandbox, &format!("turns: [{{{call}}}, {{{slow}}}]"));
    chat.enter("think");
    chat.wait_for("✓ under way");
    chat
}

#[test]
fn ctrl_c_stops_the_model_and_the_chat_continues() {
    let sandbox = sandbox();
    let expect = "{contains: [think, under way, still there?], lacks: [never]}";
    sandbox.write("fast.yaml", format!("turns: [{{text: Yes., expect: {expect}}}]"));
    let mut chat = busy_chat(&sandbox);
    chat.signal(Signal::INT);
    chat.wait_for("stopped; your next message continues from here");
    chat.wait_for(PROMPT);
    say(&mut chat, "/model scripted:fast.yaml");
    assert!(say(&mut chat, "still there?").contains("Yes."));
}

#[test]
fn ctrl_c_stops_a_tool_and_the_chat_continues() {
    let sandbox = sandbox();
    let call = "{name: bash, input: {command: touch started; sleep 1000}}";
    let expect = "{contains: [wait, sleep 1000, and now?]}";
    let script = format!("turns: [{{tool_calls: [{call}]}}, {{text: Stopped., expect: {expect}}}]");
    let mut chat = chat(&sandbox, &script);
    chat.enter("wait");
    wait_until("the tool runs", || sandbox.project().join("started").exists());
    chat.signal(Signal::INT);
    chat.wait_for("stopped; your next message continues from here");
    chat.wait_for(PROMPT);
    assert!(say(&mut chat, "and now?").contains("Stopped."));
    chat.enter("/exit");
    assert_eq!(chat.end().0, Some(0));
}

#[test]
fn ctrl_c_at_the_prompt_clears_the_line_and_a_second_one_exits() {
    let sandbox = sandbox();
    install_witness(&sandbox);
    let mut chat =
        chat(&sandbox, "turns: [{text: ok, expect: {contains: [kept], lacks: [dropped]}}]");
    for _ in 0..2 {
        chat.type_in("dropped\x03");
        chat.wait_for("press Ctrl-C again");
        chat.wait_for(PROMPT);
    }
    assert!(say(&mut chat, "kept").contains("ok\n"));
    chat.type_in("\x03");
    chat.wait_for("press Ctrl-C again");
    chat.wait_for(PROMPT);
    chat.type_in("\x03");
    assert_eq!(chat.end().0, Some(0));
    assert!(sandbox.read("ended").contains("\"exit_reason\": \"user_exit\""));
}

#[test]
fn sigterm_at_the_prompt_ends_the_session_cleanly() {
    for signal in [Signal::TERM, Signal::HUP] {
        let sandbox = sandbox();
        install_witness(&sandbox);
        let chat = chat(&sandbox, "turns: []");
        chat.signal(signal);
        assert_eq!(chat.end().0, Some(130));
        assert!(sandbox.read("ended").contains("\"exit_reason\": \"interrupted\""));
    }
}

#[test]
fn sigterm_at_a_question_ends_the_session_cleanly() {
    let sandbox = sandbox();
    install_witness(&sandbox);
    let ask = r#"echo '{"decision": "ask", "reason": "sure?"}'"#;
    manifest_hook(&sandbox, "careful", "before_tool", "", ask);
    let mut chat =
        chat(&sandbox, "turns: [{tool_calls: [{name: bash, input: {command: touch yes}}]}]");
    chat.enter("touch it");
    chat.wait_for("[n] no: ");
    chat.signal(Signal::TERM);
    assert_eq!(chat.end().0, Some(130));
    assert!(sandbox.read("ended").contains("\"exit_reason\": \"interrupted\""));
    assert!(!sandbox.project().join("yes").exists());
}

#[test]
fn sigterm_during_a_turn_ends_the_session_cleanly() {
    let sandbox = sandbox();
    install_witness(&sandbox);
    let chat = busy_chat(&sandbox);
    chat.signal(Signal::TERM);
    assert_eq!(chat.end().0, Some(130));
    assert!(sandbox.read("ended").contains("\"exit_reason\": \"interrupted\""));
}

#[test]
fn a_second_ctrl_c_exits_at_once_and_leaves_no_process_running() {
    let sandbox = sandbox();
    let deaf = "trap '' TERM; echo $$ > new; mv new slow; while :; do sleep 0.1; done";
    manifest_hook(&sandbox, "slow", "after_agent", "", deaf);
    let chat = busy_chat(&sandbox);
    chat.signal(Signal::INT);
    wait_until("the hook runs", || sandbox.project().join("slow").exists());
    chat.signal(Signal::INT);
    assert_eq!(chat.end().0, Some(130));
    wait_for_death(&sandbox, "slow");
}
