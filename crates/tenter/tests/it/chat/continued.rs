//! The end of the conversation that a chat continues, and what hooks did in it.

use super::{chat, chat_with, say, start};
use crate::sandbox;

#[test]
fn a_followed_conversation_shows_its_end() {
    let sandbox = sandbox();
    let mut first = chat(
        &sandbox,
        "turns:
  - text: An old answer.
  - tool_calls: [{name: bash, input: {command: echo hi}}]
  - text: \"It said **hi**.\\n\\n- one\\n- two\"",
    );
    say(&mut first, "an old question");
    say(&mut first, "what is it?");
    first.enter("/quit");
    assert_eq!(first.end().0, Some(0));

    for flags in [&["--follow"][..], &["--follow", "--no-save"]] {
        let mut second = start(&sandbox, "turns: [{text: Yes.}]", flags);
        let screen = second.wait_for("• two");
        assert!(screen.contains("the conversation was saved at 20"), "{screen}");
        let end = "│ what is it?\n  1 tool call\nIt said hi.\n";
        assert!(screen.contains(end), "{screen}");
        assert!(!screen.contains("old"), "{screen}");
        second.wait_for(super::PROMPT);
    }
    let mut other = chat(&sandbox, "turns: [{text: Yes.}]");
    other.enter("/resume");
    other.wait_for_row("❯ an old question");
    other.type_in("\r");
    other.wait_for("Continuing: an old question");
    other.wait_for("It said hi.\n");
}

#[test]
fn after_compact_the_last_answer_is_shown() {
    let sandbox = sandbox();
    let mut first =
        chat(&sandbox, "turns: [{text: It is 42.}, {text: 'Summary: the answer was 42.'}]");
    say(&mut first, "what is it?");
    say(&mut first, "/compact");
    first.enter("/quit");
    assert_eq!(first.end().0, Some(0));
    let mut second = start(&sandbox, "turns: []", &["--follow"]);
    let screen = second.wait_for(super::PROMPT);
    assert!(screen.contains("│ what is it?\nIt is 42.\n"), "{screen}");
}

#[test]
fn resume_without_an_id_lets_the_user_choose() {
    let sandbox = sandbox();
    let mut first = chat(&sandbox, "turns: [{text: One.}]");
    say(&mut first, "about apples");
    first.enter("/quit");
    assert_eq!(first.end().0, Some(0));
    let mut session = start(&sandbox, "turns: []", &["--resume"]);
    session.wait_for_row("❯ about apples");
    session.type_in("\r");
    session.wait_for("│ about apples\nOne.\n");
    let model = sandbox.script("turns: []");
    let args = ["run", "--model", &model, "continue", "--resume"];
    sandbox.fails(2, args, "--resume needs an ID");
}

#[test]
fn a_new_conversation_shows_no_end_of_another() {
    let sandbox = sandbox();
    let mut chat = start(&sandbox, "turns: []", &["--follow"]);
    let screen = chat.wait_for(super::PROMPT);
    assert!(!screen.contains("the conversation was saved"), "{screen}");
}

#[test]
fn the_log_of_the_conversation_is_shown() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "guard",
        "before_tool_call",
        "echo '{\"blocked\": true, \"reason\": \"never\"}'",
    );
    let mut chat = chat_with(
        &sandbox,
        "turns:
  - tool_calls: [{name: bash, input: {command: echo one}}]
  - tool_calls: [{name: bash, input: {command: echo two}}]
  - text: No.",
        &[],
    );
    assert!(say(&mut chat, "/log").contains("No hook has run in this conversation yet."));
    say(&mut chat, "go");
    let all = say(&mut chat, "/log");
    assert_eq!(all.matches("deny  bash").count(), 2, "{all}");
    assert!(all.contains("echo one") && all.contains("never"), "{all}");
    let last = say(&mut chat, "/log 1");
    assert!(last.contains("echo two") && !last.contains("echo one"), "{last}");
    assert!(say(&mut chat, "/log many").contains("many is not a number"));
}
