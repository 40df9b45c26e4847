//! `!COMMAND` in a chat: runs in the user's shell, and the model reads it with the next message.

use tenter_testkit::assert_contains;
use tenter_testkit::pty::Signal;

use super::{PROMPT, chat, say};
use crate::sandbox;

#[test]
fn the_model_reads_a_command_and_its_output_once() {
    let sandbox = sandbox();
    sandbox.sh_hook("no", "before_tool_call", r#"echo '{"blocked": true, "reason": "no"}'"#);
    let mut chat = chat(
        &sandbox,
        "turns:
  - {text: First., expect: {contains: [$ echo one && exit 3, 'one', ended with code 3, What?]}}
  - {text: Second., expect: {contains: [And now?]}}",
    );
    let screen = say(&mut chat, "!echo one && exit 3");
    assert_contains(&screen, &["one\n", "The command ended with code 3."]);
    assert!(say(&mut chat, "What?").contains("First."));
    assert!(say(&mut chat, "And now?").contains("Second."));
    assert!(say(&mut chat, "!").contains("Type a command"));
}

#[test]
fn output_is_sanitized_and_input_is_empty() {
    let sandbox = sandbox();
    let mut chat = chat(&sandbox, "turns: []");
    say(&mut chat, "!printf 'a\\033[2Jb\\n'; cat; echo end");
    assert!(!chat.raw().contains("a\u{1b}[2J"), "{}", chat.raw());
    assert!(chat.raw().contains("end"));
}

#[test]
fn two_exclamation_marks_give_the_terminal_away_and_share_nothing() {
    let sandbox = sandbox();
    let mut chat =
        chat(&sandbox, "turns: [{text: Hello., expect: {contains: [hi], lacks: [typed]}}]");
    chat.enter("!!echo ready; read line; echo got $line");
    chat.answer("ready\n", "typed");
    chat.wait_for("got typed");
    chat.wait_for(PROMPT);
    assert!(say(&mut chat, "hi").contains("Hello."));
}

#[test]
fn ctrl_c_stops_a_command_and_the_chat_continues() {
    let sandbox = sandbox();
    let mut chat = chat(&sandbox, "turns: [{text: Hello.}]");
    chat.enter("!touch begun; sleep 1000");
    tenter_testkit::wait_until("it runs", || sandbox.project().join("begun").exists());
    chat.signal(Signal::INT);
    chat.wait_for("The command was interrupted.");
    chat.wait_for(PROMPT);
    assert!(say(&mut chat, "hi").contains("Hello."));
}

#[test]
fn the_shell_is_the_users_and_has_no_model_keys() {
    let sandbox = sandbox();
    let script = "#!/bin/sh\necho mine: \"$2\" \"${OPENAI_API_KEY-none}\"\n";
    let shell = sandbox.write_program("../my-shell", script);
    let model = sandbox.script("turns: []");
    let vars = [("SHELL", shell.to_str().unwrap()), ("OPENAI_API_KEY", "sk-secret-of-mine")];
    let mut chat = sandbox.at_terminal_with_env(&vars, ["chat", "--model", &model]);
    chat.wait_for(PROMPT);
    assert!(say(&mut chat, "!x y").contains("mine: x y none"));
}
