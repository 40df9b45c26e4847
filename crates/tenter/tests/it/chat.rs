//! `tenter chat` in a pseudo-terminal.

mod attachments;
mod commands;
mod continued;
mod endings;
mod files;
mod history;
mod hook_commands;
mod hooks;
mod notifications;
mod recipes;
mod shell_commands;
mod streaming;
mod typing;
mod undo;

use tenter_testkit::{PtySession, Sandbox, assert_contains};

use crate::sandbox;

/// The prompt of a chat.
pub(crate) const PROMPT: &str = "\n> ";

/// Returns a chat with a scripted model, at its first prompt.
pub(crate) fn chat(sandbox: &Sandbox, script: &str) -> PtySession {
    chat_with(sandbox, script, &[])
}

fn chat_with(sandbox: &Sandbox, script: &str, flags: &[&str]) -> PtySession {
    let mut chat = start(sandbox, script, flags);
    chat.wait_for(PROMPT);
    chat
}

fn start(sandbox: &Sandbox, script: &str, flags: &[&str]) -> PtySession {
    asking(sandbox, script, &[&["--permissions", "all"], flags].concat())
}

/// Returns a chat that asks before a tool runs, as chats do unless told otherwise.
pub(crate) fn asking(sandbox: &Sandbox, script: &str, flags: &[&str]) -> PtySession {
    let model = sandbox.script(script);
    sandbox.at_terminal([&["chat", "--model", &model], flags].concat())
}

/// Sends a message and returns the output up to the next prompt.
pub(crate) fn say(chat: &mut PtySession, line: &str) -> String {
    chat.enter(line);
    chat.wait_for(PROMPT)
}

#[test]
fn without_a_terminal_it_fails_and_suggests_run() {
    let output = sandbox().run_with_stdin("chat", "hello\n").expect_code(2);
    assert_contains(&output.stderr, &["a chat needs a terminal", "tenter run"]);
}

#[test]
fn messages_are_answered_in_order_in_one_conversation() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns:
  - {text: Hello Ada., expect: {contains: [I am Ada]}, usage: {input_tokens: 10, output_tokens: 3}}
  - {text: Ada., expect: {contains: [I am Ada, Hello Ada., Who am I?]}, usage: {input_tokens: 20, output_tokens: 2}}",
    );
    let first = say(&mut chat, "I am Ada");
    assert!(first.contains("Hello Ada.\n1 turn · 10 tokens in, 3 out"), "{first}");
    let second = say(&mut chat, "Who am I?");
    assert!(second.contains("Ada.\n1 turn · 20 tokens in, 2 out"), "{second}");
    chat.enter("/exit");
    let (code, rest) = chat.end();
    assert_eq!(code, Some(0));
    assert!(rest.contains("continue with: tenter chat --resume "), "{rest}");
}

#[test]
fn the_first_message_may_be_an_argument() {
    let sandbox = sandbox();
    let mut chat = start(
        &sandbox,
        "turns: [{text: Fine., expect: {contains: [how are you]}}]",
        &["how", "are", "you"],
    );
    let screen = chat.wait_for(PROMPT);
    assert!(screen.contains("Fine."), "{screen}");
}

#[test]
fn two_slashes_are_sent_as_one() {
    let sandbox = sandbox();
    let mut chat =
        chat(&sandbox, "turns: [{text: ok, expect: {contains: [/etc is full], lacks: [//]}}]");
    assert!(say(&mut chat, "//etc is full").contains("ok\n"));
}

#[test]
fn text_is_rendered_as_markdown_without_escape_sequences() {
    let sandbox = sandbox();
    let model = sandbox.script(
        r##"turns: [{text: "# Plan\n\nSome **bold** words\n- `one`\x1b[2J\x1b]0;owned\x07\n"}]"##,
    );
    let mut command = sandbox.command();
    command.env_remove("NO_COLOR").args(["chat", "--model", &model, "go"]);
    let mut chat = PtySession::start(command);
    let screen = chat.wait_for("• `one`\n");
    assert!(screen.contains("# Plan\n\nSome bold words\n"), "{screen}");
    chat.wait_for(PROMPT);
    let raw = chat.raw();
    assert!(raw.contains("\x1b[1mbold\x1b[0m"), "{raw}");
    assert!(!raw.contains("\x1b[2J") && !raw.contains("owned"), "{raw}");
}

#[test]
fn no_color_disables_styles() {
    let sandbox = sandbox();
    let mut chat =
        start(&sandbox, r##"turns: [{text: "# Plan\n\nSome **bold** words\n"}]"##, &["go"]);
    chat.wait_for("Some bold words\n");
    assert!(!chat.raw().contains("\x1b[1m"), "{}", chat.raw());
}

#[test]
fn file_changes_are_shown() {
    let sandbox = sandbox();
    sandbox.write("list.txt", "one\n\tnumber two\nthree\n");
    let mut chat = chat(
        &sandbox,
        r#"turns:
  - tool_calls: [{name: file_edit, input: {file_path: list.txt, old_text: two, new_text: zwei}}]
  - tool_calls: [{name: file_write, input: {file_path: list.txt, text: "one\n\tnumber zwei\nthree\nfour\n"}}]
  - text: Done."#,
    );
    let screen = say(&mut chat, "add a line");
    assert!(screen.contains("● file_edit list.txt"), "{screen}");
    assert!(
        screen.contains(
            "    @@ line 1 @@\n     one\n    -    number two\n    +    number zwei\n     three\n"
        ),
        "{screen}"
    );
    assert_contains(&screen, &["● file_write list.txt", "     three\n    +four\n", "3 turns"]);
}

#[test]
fn a_model_error_is_shown_and_the_chat_continues() {
    let sandbox = sandbox();
    let mut chat =
        chat(&sandbox, "turns: [{text: x, expect: {contains: [elephant]}}, {text: Here.}]");
    let screen = say(&mut chat, "mouse");
    assert!(screen.contains("expects the request to contain \"elephant\""), "{screen}");
    assert!(say(&mut chat, "again").contains("Here.\n"));
}

#[test]
fn an_unreachable_model_leaves_the_chat_usable() {
    let sandbox = sandbox();
    let retry = "[retry]\nfirst_delay_ms = 1\nattempts = 2\n";
    sandbox.configure(retry);
    let mut chat = chat(
        &sandbox,
        "turns:
  - {fault: {kind: overloaded, times: 2}}
  - {fault: {kind: too_long}}
  - {text: Back., expect: {contains: [hello, again]}}",
    );
    let screen = say(&mut chat, "hello");
    assert!(screen.contains("gave up after 2 attempts"), "{screen}");
    assert!(screen.contains("your next message continues") && !screen.contains("--follow"));
    assert!(say(&mut chat, "again").contains("/compact shortens it"));
    assert!(say(&mut chat, "again").contains("Back."));
}

#[test]
fn a_tool_failure_is_shown() {
    let sandbox = sandbox();
    let call = "{name: bash, input: {command: echo out; exit 3}}";
    let mut chat = chat(&sandbox, &format!("turns: [{{tool_calls: [{call}]}}, {{text: ok}}]"));
    let screen = say(&mut chat, "go");
    assert!(screen.contains("  ✗ exit code 3\n    out\n"), "{screen}");
}
