//! Hooks in a chat: their decisions are shown as they happen, their questions are asked, and they receive session events.

use tenter_testkit::{McpServer, PtySession, Sandbox, assert_contains};

use super::{chat, say, start};
use crate::manifests::hook as manifest_hook;
use crate::{filter_kind, sandbox};

/// Installs a hook that asks about every call.
fn install_careful(sandbox: &Sandbox) {
    let answer = r#"echo '{"decision": "ask", "reason": "sure?"}'"#;
    manifest_hook(sandbox, "careful", "before_tool", "", answer);
}

#[test]
fn a_denied_call_is_shown_with_its_reason_and_the_chat_continues() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "guard",
        "before_tool_call",
        r#"case "$payload" in *"rm -rf"*) echo '{"blocked": true, "reason": "too dangerous"}';; esac"#,
    );
    let mut chat = chat(
        &sandbox,
        "turns:
  - tool_calls: [{name: bash, input: {command: rm -rf /tmp/x}}]
  - {text: I may not., expect: {contains: [too dangerous]}}
  - {text: Bye.}",
    );
    let screen = say(&mut chat, "clean up");
    assert!(screen.contains("● bash rm -rf /tmp/x"), "{screen}");
    assert!(screen.contains("✗ blocked by hook guard at before_tool: too dangerous"), "{screen}");
    assert_eq!(screen.matches("too dangerous").count(), 1, "{screen}");
    assert!(screen.contains("I may not."), "{screen}");
    assert!(say(&mut chat, "fine").contains("Bye."));
}

#[test]
fn a_blocked_message_shows_the_hook_that_blocked_it() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "polite",
        "user_message_send",
        r#"case "$payload" in *damn*) echo '{"blocked": true, "reason": "no swearing"}';; esac"#,
    );
    let mut chat = chat(&sandbox, "turns: [{text: Hello.}]");
    let screen = say(&mut chat, "damn");
    assert!(screen.contains("blocked by hook polite at before_agent: no swearing"), "{screen}");
    assert!(say(&mut chat, "hi").contains("Hello."));
}

#[test]
fn a_hooks_question_is_answered_at_the_prompt() {
    let sandbox = sandbox();
    install_careful(&sandbox);
    let mut chat = chat(
        &sandbox,
        "turns:
  - tool_calls: [{name: bash, input: {command: touch yes}}]
  - tool_calls: [{name: bash, input: {command: touch no}}]
  - text: Done.",
    );
    chat.enter("touch them");
    chat.wait_for("the hook careful asks: sure?");
    chat.answer("[n] no: ", "y");
    chat.answer("[n] no: ", "n");
    chat.wait_for("Done.");
    assert!(sandbox.project().join("yes").exists() && !sandbox.project().join("no").exists());
}

/// "Always" is for exactly this call of this hook, and every answer is in the journal in the words that were shown.
#[test]
fn always_allows_exactly_this_call_and_answers_are_recorded() {
    let sandbox = sandbox();
    install_careful(&sandbox);
    let mut chat = chat(
        &sandbox,
        "turns:
  - tool_calls: [{name: bash, input: {command: echo a >> a}}]
  - tool_calls: [{name: bash, input: {command: echo a >> a}}]
  - tool_calls: [{name: bash, input: {command: echo b >> a}}]
  - tool_calls: [{name: bash, input: {command: echo c >> a}}]
  - text: Done.",
    );
    chat.enter("append");
    for answer in ["a", "n", "y"] {
        chat.answer("[a] always this call, in this session  [n] no: ", answer);
    }
    chat.wait_for("Done.");
    assert_eq!(sandbox.read("a"), "a\na\nc\n");
    let records = sandbox.run("log --json").expect_code(0).json_lines();
    let answers: Vec<String> = filter_kind(&records, "answer")
        .iter()
        .map(|record| {
            let command = &record["tool_input"]["command"];
            format!(
                "{command}: {}, {}, {}",
                record["answer"], record["allowed"], record["remembered"]
            )
        })
        .collect();
    assert_eq!(
        answers,
        [
            r#""echo a >> a": "always", true, null"#,
            r#""echo a >> a": "always", true, true"#,
            r#""echo b >> a": "no", false, null"#,
            r#""echo c >> a": "yes", true, null"#,
        ]
    );
}

#[test]
fn session_events_name_the_chat_and_its_exit_reason() {
    let sandbox = sandbox();
    for event in ["session_start", "session_end"] {
        manifest_hook(&sandbox, &event.replace('_', "-"), event, "", "echo \"$payload\" >> seen");
    }
    let mut chat = chat(&sandbox, "turns: [{text: Hello.}]");
    say(&mut chat, "hi");
    chat.type_in("\x04");
    assert_eq!(chat.end().0, Some(0));
    let content = sandbox.read("seen");
    assert_contains(&content, &["\"ui\": \"chat\"", "\"user_exit\""]);
}

#[test]
fn hooks_can_be_listed_and_trusted_in_the_chat() {
    let sandbox = sandbox();
    sandbox.hook(
        "guard",
        "#!/bin/sh\n[ \"$1\" = hook ] && { echo before_tool_call; exit; }\necho '{\"blocked\": true, \"reason\": \"never\"}'\n",
    );
    let mut chat = start(
        &sandbox,
        "turns:
  - tool_calls: [{name: bash, input: {command: echo one}}]
  - text: Ran.
  - tool_calls: [{name: bash, input: {command: echo two}}]
  - {text: Did not., expect: {contains: [echo one, never]}}",
        &[],
    );
    chat.answer("Let them run?", "s");
    chat.wait_for("Skipped this time: guard.");
    chat.wait_for(super::PROMPT);
    assert!(say(&mut chat, "/hooks").contains("it is not trusted"));
    assert!(say(&mut chat, "go").contains("✓ one"));
    chat.enter("/trust");
    chat.answer("Let them run?", "t");
    chat.wait_for("Trusted: guard.");
    chat.wait_for(super::PROMPT);
    assert!(say(&mut chat, "/hooks").contains("active"));
    let screen = say(&mut chat, "again");
    assert!(screen.contains("blocked by hook guard") && screen.contains("Did not."), "{screen}");
    assert!(say(&mut chat, "/trust").contains("Nothing to trust"));
}

#[test]
fn mcp_servers_can_be_trusted_in_the_chat_and_start_without_a_new_one() {
    let sandbox = sandbox();
    McpServer::default().install(&sandbox.project().join("tools/server"));
    sandbox.write("tenter.toml", "[mcp.servers.ours]\ncommand = \"./tools/server\"\n");
    let mut chat = super::start(
        &sandbox,
        "turns:
  - {text: None yet.}
  - tool_calls: [{name: mcp__ours__echo, input: {text: hello}}]
  - {text: Called., expect: {contains: ['arguments:{text:hello}']}}",
        &[],
    );
    chat.answer("Let them run?", "s");
    chat.wait_for("Skipped this time: mcp:ours.");
    chat.wait_for(super::PROMPT);
    say(&mut chat, "one");
    chat.enter("/trust");
    chat.wait_for("trust covers: tools/server");
    chat.answer("Let them run?", "t");
    chat.wait_for("Trusted: mcp:ours.");
    chat.wait_for(super::PROMPT);
    assert!(say(&mut chat, "two").contains("Called."));
    assert!(say(&mut chat, "/trust").contains("Nothing to trust"));
}

/// Returns a chat in a project whose own recipe for compaction starts a program.
fn chat_with_a_recipe(sandbox: &Sandbox) -> PtySession {
    let recipe = "Shorten it. {{bash \"touch\" \"ran\"}}";
    sandbox.write(".kodelet/recipes/compact.md", recipe);
    let mut chat = chat(
        sandbox,
        "turns: [{text: One.}, {text: Two.}, {text: Three.}]
recipes: {compact: [Short., Shorter.]}",
    );
    say(&mut chat, "one");
    say(&mut chat, "two");
    let screen = say(&mut chat, "/compact");
    assert!(screen.contains("the recipe compact comes with the project"), "{screen}");
    assert!(!sandbox.project().join("ran").exists());
    chat
}

#[test]
fn recipes_can_be_trusted_in_the_chat() {
    let sandbox = sandbox();
    let mut chat = chat_with_a_recipe(&sandbox);
    chat.enter("/trust");
    chat.wait_for("recipe:compact  starts touch ran");
    chat.answer("Let them run?", "t");
    chat.wait_for("Trusted: recipe:compact.");
    chat.wait_for(super::PROMPT);
    say(&mut chat, "three");
    say(&mut chat, "/compact");
    assert!(sandbox.project().join("ran").exists());
    assert!(say(&mut chat, "/trust").contains("Nothing to trust: everything is already trusted."));
}

#[test]
fn hooks_trusted_in_another_terminal_run_after_slash_trust() {
    let sandbox = sandbox();
    let mut chat = chat_with_a_recipe(&sandbox);
    let _ = sandbox.run("trust --yes").expect_code(0);
    assert!(say(&mut chat, "/trust").contains("Using what you trusted in the meantime"));
    say(&mut chat, "three");
    say(&mut chat, "/compact");
    assert!(sandbox.project().join("ran").exists());
}

#[test]
fn a_hook_that_blocks_the_session_ends_the_chat() {
    let sandbox = sandbox();
    manifest_hook(&sandbox, "gate", "session_start", "", "echo closed >&2; exit 2");
    let (code, screen) = start(&sandbox, "turns: [{text: never}]", &[]).end();
    assert_eq!(code, Some(3), "{screen}");
    assert!(screen.contains("blocked by hook gate at session_start"), "{screen}");
}
