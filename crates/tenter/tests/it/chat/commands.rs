//! The slash commands of a chat.

use super::{PROMPT, chat, chat_with, say};
use crate::sandbox;
use tenter_testkit::assert_contains;

#[test]
fn help_lists_commands_and_an_unknown_one_gets_a_suggestion() {
    let sandbox = sandbox();
    let mut chat = chat(&sandbox, "turns: []");
    let help = say(&mut chat, "/help");
    assert!(help.contains("show tokens, the context in use, and cost"), "{help}");
    let unknown = say(&mut chat, "/usge");
    assert_contains(&unknown, &["there is no command /usge", "did you mean /usage?"]);
    assert!(say(&mut chat, "/help me").contains("/help takes no argument"));
}

#[test]
fn commands_and_ids_are_completed() {
    let sandbox = sandbox();
    let mut before = chat(&sandbox, "turns: [{text: ok}]");
    say(&mut before, "the first talk");
    before.enter("/exit");
    assert_eq!(before.end().0, Some(0));

    let mut chat = chat(&sandbox, "turns: []");
    chat.type_in("/res\t\t");
    chat.wait_for("/resume 0");
    chat.enter("");
    chat.wait_for("Continuing: the first talk");
}

#[test]
fn conversations_can_be_listed_resumed_and_started() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns:
  - {text: One., expect: {contains: [about apples]}}
  - {text: Two., expect: {contains: [about pears], lacks: [apples]}}
  - {text: Three., expect: {contains: [about apples, One., more], lacks: [pears]}}",
    );
    say(&mut chat, "about apples");
    say(&mut chat, "/new");
    say(&mut chat, "about pears");
    chat.enter("/resume");
    chat.wait_for("Continue which conversation?");
    let row = chat.wait_for_row("❯");
    assert!(row.contains("about apples  project · "), "{row}");
    chat.type_in("pears");
    chat.wait_for_row("nothing matches");
    chat.type_in("\x15APP");
    chat.wait_for_row("❯ about apples");
    chat.type_in("\r");
    chat.wait_for("Continuing: about apples");
    chat.wait_for(PROMPT);
    assert!(say(&mut chat, "more").contains("Three."));
    let status = say(&mut chat, "/status");
    let apples = status.lines().find_map(|line| line.trim().strip_prefix("conversation")).unwrap();
    assert!(
        say(&mut chat, &format!("/resume {apples}")).contains("this is the current conversation")
    );
    chat.enter("/resume");
    chat.wait_for_row("❯ about pears");
    chat.type_in("\x03");
    chat.wait_for(PROMPT);
    let unknown = say(&mut chat, "/resume nonsense");
    assert!(unknown.contains("there is no conversation \"nonsense\""), "{unknown}");
}

#[test]
fn the_state_of_the_chat_can_be_seen() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns: [{text: ok, usage: {input_tokens: 900, output_tokens: 100}}]\ncontext_window: 4000",
    );
    assert!(say(&mut chat, "/usage").contains("0 of 4000 tokens (0 %)"));
    assert!(say(&mut chat, "hi").contains("900 tokens in, 100 out · context 25 %"));
    let usage = say(&mut chat, "/usage");
    for line in
        ["in       900 tokens", "out      100 tokens", "context  1000 of 4000 tokens (25 %)"]
    {
        assert!(usage.contains(line), "{line} in {usage}");
    }
    let status = say(&mut chat, "/status");
    for text in ["scripted:", "/project\n", "permissions   all", "1000 of 4000 tokens (25 %)"] {
        assert!(status.contains(text), "{text} in {status}");
    }
    let context = say(&mut chat, "/context");
    assert!(context.contains("messages       2") && context.contains("system prompt"), "{context}");
    assert!(say(&mut chat, "/cost").contains("cost     unknown"));
    assert!(say(&mut chat, "/mcp").contains("There are no MCP servers."));
    assert!(say(&mut chat, "/skills").contains("There are no skills."));
}

#[test]
fn ctrl_o_shows_output_that_was_folded() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns: [{tool_calls: [{name: bash, input: {command: seq 20}}]}, {text: Done.}]",
    );
    let screen = say(&mut chat, "count");
    assert!(screen.contains("… 12 more lines: Ctrl-O") && !screen.contains("19\n"), "{screen}");
    chat.type_in("typed\x0f");
    chat.wait_for("19\n20\n");
    chat.wait_for("> typed");
}

#[test]
fn init_and_review_are_recipes() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns:
  - {text: Written., expect: {contains: [AGENTS.md]}}
  - {text: Nothing is wrong., expect: {contains: [git diff main...HEAD, look at tests]}}",
    );
    assert!(say(&mut chat, "/init").contains("Written."));
    assert!(say(&mut chat, "/review since=main look at tests").contains("Nothing is wrong."));
}

#[test]
fn the_model_can_be_switched_and_an_unknown_one_changes_nothing() {
    let sandbox = sandbox();
    sandbox
        .write("other.yaml", "turns: [{text: I am the other., expect: {contains: [hi, Hello.]}}]");
    for flags in [&[][..], &["--no-save"]] {
        let mut chat = chat_with(&sandbox, "turns: [{text: Hello.}, {text: Still me.}]", flags);
        say(&mut chat, "hi");
        assert!(say(&mut chat, "/model").contains("script.yaml"));
        let unknown = say(&mut chat, "/model scripted:nowhere.yaml");
        assert!(unknown.contains("error: ") && unknown.contains("nowhere.yaml"), "{unknown}");
        assert!(say(&mut chat, "you?").contains("Still me."));
        say(&mut chat, "/model scripted:other.yaml");
        assert!(say(&mut chat, "and you?").contains("I am the other."));
        assert!(say(&mut chat, "/model").contains("other.yaml"));
    }
}

#[test]
fn a_conversation_is_compacted_and_continues_with_the_summary() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns:
  - {text: Apples are red.}
  - {text: Pears are green.}
  - {text: Right., expect: {contains: [We spoke about fruit.], lacks: [Apples are red.]}}
recipes:
  compact: [We spoke about fruit., Fruit.]",
    );
    say(&mut chat, "apples?");
    say(&mut chat, "pears?");
    let message = say(&mut chat, "/compact");
    assert_contains(
        &message,
        &[
            "4 messages became 2",
            "The context now has about",
            "To restore the previous history, run: tenter conversation restore 0",
        ],
    );
    assert!(say(&mut chat, "and now?").contains("Right."));
    assert!(say(&mut chat, "/recipe compact").contains("The context now has about"));
}
