//! Typed messages: on several lines, pasted, and while the chat is busy with something else.

use tenter_testkit::pty::Signal;
use tenter_testkit::{PtySession, Sandbox, wait_until};

use super::{PROMPT, chat, say};
use crate::manifests::hook as manifest_hook;
use crate::sandbox;

/// A tool call that is at work until the file `go` appears.
const WAITS: &str = "tool_calls: [{name: bash, input: {command: touch busy; until test -e go; do sleep 0.1; done}}]";

/// Returns a chat that works until the file `go` exists, and continues with `turns`.
fn busy_chat(sandbox: &Sandbox, turns: &str) -> PtySession {
    let mut chat = chat(sandbox, &format!("turns: [{{{WAITS}}}, {turns}]"));
    chat.enter("work");
    wait_until("it works", || sandbox.project().join("busy").exists());
    chat
}

#[test]
fn a_message_continues_after_a_backslash_and_in_a_code_block() {
    let sandbox = sandbox();
    let expect = r#"{contains: ["one\ntwo", "```\ncode\n```"]}"#;
    let mut chat =
        chat(&sandbox, &format!("turns: [{{text: ok}}, {{text: sure, expect: {expect}}}]"));
    chat.enter("one\\");
    assert!(say(&mut chat, "two").contains("ok\n"));
    chat.enter("```");
    chat.enter("code");
    assert!(say(&mut chat, "```").contains("sure\n"));
}

#[test]
fn pasted_lines_and_lines_after_alt_enter_are_one_message() {
    for (typed, rest) in [("\x1b[200~one\rtwo\x1b[201~", ""), ("one\x1b\r", "two")] {
        let sandbox = sandbox();
        let mut chat = chat(&sandbox, r#"turns: [{text: ok, expect: {contains: ["one\ntwo"]}}]"#);
        chat.type_in(typed);
        assert!(say(&mut chat, rest).contains("ok\n"));
    }
}

#[test]
fn ctrl_g_edits_the_message_in_the_users_editor() {
    let sandbox = sandbox();
    sandbox.write("editor", "#!/bin/sh\nprintf ' and\\nmore\\n' >> \"$1\"\n");
    let model = sandbox.script(r#"turns: [{text: ok, expect: {contains: ["one and\nmore"]}}]"#);
    let args = ["chat", "--model", &model];
    let mut chat = sandbox.at_terminal_with_env(&[("VISUAL", "sh ./editor")], args);
    chat.wait_for(PROMPT);
    chat.type_in("one\x07");
    chat.wait_for("one and\nmore");
    assert!(say(&mut chat, "").contains("ok\n"));
}

#[test]
fn a_line_below_the_prompt_shows_the_status_and_leaves_with_the_message() {
    let sandbox = sandbox();
    let model = sandbox.script("turns: [{text: ok}]");
    let mut command = sandbox.command();
    command.env_remove("NO_COLOR").args(["chat", "--model", &model]);
    let mut chat = PtySession::start(command);
    let status = "yaml · permissions: ask · context 0 %";
    let is_below = |rows: &[String], line: &str| {
        rows.windows(2).any(|pair| pair[0].trim_end() == line && pair[1].contains(status))
    };
    chat.wait_for_rows(|rows| is_below(rows, ">"));
    chat.type_in("/comp");
    chat.wait_for_rows(|rows| is_below(rows, "> /compact [NAME=VALUE]"));
    chat.type_in("\x15hi\r");
    let rows = chat.wait_for_rows(|rows| rows.iter().any(|row| row == "ok") && is_below(rows, ">"));
    assert_eq!(rows.iter().filter(|row| row.contains(status)).count(), 1, "{rows:?}");
}

#[test]
fn lines_typed_at_once_are_separate_messages() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns:
  - {text: First., expect: {contains: [one], lacks: [two]}}
  - {text: Second., expect: {contains: [two], lacks: [three]}}
  - {text: Third., expect: {contains: [three]}}",
    );
    chat.type_in("one\rtwo\rthree\r");
    for answer in ["First.\n", "Second.\n", "Third.\n"] {
        chat.wait_for(answer);
    }
}

#[test]
fn input_typed_during_a_turn_is_sent_in_order_and_a_paste_stays_whole() {
    let sandbox = sandbox();
    let mut chat = busy_chat(
        &sandbox,
        r#"{text: Done.},
  {text: Second., expect: {contains: [two], lacks: [three]}},
  {text: Third., expect: {contains: [three], lacks: [four]}},
  {text: Fourth., expect: {contains: ["four\n  five\nsix"]}}"#,
    );
    assert!(!chat.echoes());
    chat.enter("two");
    chat.enter("three");
    chat.enter("\x1b[200~four\r  five\x1b[201~\x1b\rsix");
    chat.type_in("seven");
    sandbox.write("go", "");
    for (shown, answer) in [
        ("", "Done.\n"),
        ("\n> two\n", "Second.\n"),
        ("\n> three\n", "Third.\n"),
        ("six\n", "Fourth.\n"),
    ] {
        chat.wait_for(shown);
        chat.wait_for(answer);
    }
    chat.wait_for("\n> seven");
}

#[test]
fn the_input_line_stays_while_the_agent_works() {
    let sandbox = sandbox();
    let mut chat =
        busy_chat(&sandbox, "{text: Done.}, {text: Second., expect: {contains: [two words]}}");
    chat.type_in("two wrods");
    chat.wait_for_row("> two wrods");
    chat.type_in("\x17words\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D!");
    chat.wait_for_row("> two! words");
    chat.type_in("\x7f");
    chat.wait_for_rows(|rows| rows.iter().any(|row| row == "> two words"));
    chat.enter("");
    chat.wait_for_row("queued: two words");
    chat.type_in("\x1b[A");
    chat.wait_for_rows(|rows| rows.iter().all(|row| !row.contains("queued")));
    chat.enter("");
    sandbox.write("go", "");
    chat.wait_for("Done.\n");
    chat.wait_for("\n> two words\n");
    chat.wait_for("Second.\n");
}

#[test]
fn input_typed_before_a_stopped_turn_can_be_edited() {
    let sandbox = sandbox();
    let expect = r#"{contains: ["two\nthree\nfour"]}"#;
    let mut chat = busy_chat(&sandbox, &format!("{{text: Good., expect: {expect}}}"));
    chat.enter("two");
    chat.enter("three");
    chat.signal(Signal::INT);
    chat.wait_for("stopped; your next message continues from here");
    chat.wait_for("\n> two\nthree");
    chat.type_in("\x1b\rfour");
    assert!(say(&mut chat, "").contains("Good."));
}

#[test]
fn a_large_paste_stays_whole_and_blocks_no_key() {
    let sandbox = sandbox();
    let mut chat = busy_chat(
        &sandbox,
        r#"{text: Done.}, {text: Read., expect: {contains: ["line 1999\n  and more"]}}"#,
    );
    let lines: Vec<String> = (0..2000).map(|number| format!("line {number}")).collect();
    // The terminal accepts all of it only if it is read meanwhile.
    chat.type_in(&format!("\x1b[200~{}\r  and more\x1b[201~\r", lines.join("\r")));
    sandbox.write("go", "");
    chat.wait_for("Done.\n");
    chat.wait_for("  and more");
    chat.wait_for("Read.");
}

#[test]
fn input_typed_before_a_question_does_not_answer_it() {
    let sandbox = sandbox();
    let ask = r#"touch asking; while [ ! -e go ]; do sleep 0.1; done; echo '{"decision": "ask", "reason": "sure?"}'"#;
    manifest_hook(&sandbox, "careful", "before_tool", "", ask);
    let mut chat = chat(
        &sandbox,
        "turns:
  - tool_calls: [{name: bash, input: {command: touch yes}}]
  - text: Then not.
  - {text: Said., expect: {contains: [y indeed]}}",
    );
    chat.enter("touch it");
    wait_until("the hook asks", || sandbox.project().join("asking").exists());
    chat.enter("y");
    sandbox.write("go", "");
    chat.answer("[n] no: ", "n");
    chat.wait_for("Then not.");
    chat.wait_for("\n> y");
    assert!(!sandbox.project().join("yes").exists());
    assert!(say(&mut chat, " indeed").contains("Said."));
}

#[test]
fn the_terminal_is_restored_however_the_chat_ends() {
    let sandbox = sandbox();
    let mut session = chat(&sandbox, "turns: []");
    assert!(!session.echoes());
    session.enter("/exit");
    wait_until("the terminal is restored", || session.echoes());

    let hold = "touch holding; while [ ! -e go ]; do sleep 0.1; done";
    manifest_hook(&sandbox, "slow", "after_agent", "", hold);
    let remainder = busy_chat(&sandbox, "{text: never}");
    assert!(!remainder.echoes());
    remainder.signal(Signal::INT);
    wait_until("the hook runs", || sandbox.project().join("holding").exists());
    remainder.signal(Signal::INT);
    wait_until("the terminal is restored", || remainder.echoes());
    assert!(!remainder.raw().ends_with(PROMPT));
}
