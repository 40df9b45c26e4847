//! The slash commands of a chat.

use super::{chat, chat_with, say};
use crate::sandbox;

#[test]
fn help_lists_commands_and_an_unknown_one_gets_a_suggestion() {
    let sandbox = sandbox();
    let mut chat = chat(&sandbox, "turns: []");
    let help = say(&mut chat, "/help");
    assert!(help.contains("show tokens, the context in use, and cost"), "{help}");
    let unknown = say(&mut chat, "/usge");
    assert!(unknown.contains("there is no command /usge"), "{unknown}");
    assert!(unknown.contains("did you mean /usage?"), "{unknown}");
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
fn usage_shows_tokens_and_context_size() {
    let sandbox = sandbox();
    let mut chat = chat(
        &sandbox,
        "turns: [{text: ok, usage: {input_tokens: 900, output_tokens: 100}}]\ncontext_window: 4000",
    );
    assert!(say(&mut chat, "/usage").contains("0 of 4000 tokens (0 %)"));
    say(&mut chat, "hi");
    let usage = say(&mut chat, "/usage");
    for line in
        ["in       900 tokens", "out      100 tokens", "context  1000 of 4000 tokens (25 %)"]
    {
        assert!(usage.contains(line), "{line} in {usage}");
    }
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
    let listed = say(&mut chat, "/resume");
    let line = |part: &str| listed.lines().find(|line| line.contains(part)).unwrap().to_owned();
    assert!(line("about pears").ends_with("(present)"), "{listed}");
    let apples = line("about apples").split_whitespace().next().unwrap().to_owned();
    assert!(say(&mut chat, &format!("/resume {apples}")).contains("Continuing: about apples"));
    assert!(say(&mut chat, "more").contains("Three."));
    assert!(
        say(&mut chat, &format!("/resume {apples}")).contains("this is the current conversation")
    );
    let unknown = say(&mut chat, "/resume nonsense");
    assert!(unknown.contains("there is no conversation \"nonsense\""), "{unknown}");
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
  compact: [We spoke about fruit.]",
    );
    say(&mut chat, "apples?");
    say(&mut chat, "pears?");
    let message = say(&mut chat, "/compact");
    assert!(message.contains("compact"), "{message}");
    assert!(say(&mut chat, "and now?").contains("Right."));
}
