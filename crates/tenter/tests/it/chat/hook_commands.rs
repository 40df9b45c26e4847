//! `/hooks` in a chat: lists, enables, disables and tests hooks.

use super::{PROMPT, chat, say};
use crate::manifests::hook as manifest_hook;
use crate::sandbox;

const DENY: &str = r#"echo '{"blocked": true, "reason": "not today"}'"#;

#[test]
fn a_hook_is_disabled_and_enabled_at_once() {
    let sandbox = sandbox();
    sandbox.sh_hook("polite", "user_message_send", DENY);
    let mut chat = chat(&sandbox, "turns: [{text: Hello.}]");
    assert!(say(&mut chat, "hi").contains("not today"));
    let off = say(&mut chat, "/hooks off polite");
    assert!(off.contains("polite.disable"), "{off}");
    assert!(say(&mut chat, "hi").contains("Hello."));
    let on = say(&mut chat, "/hooks on polite");
    assert!(on.contains("hooks/polite\n"), "{on}");
    assert!(say(&mut chat, "hi").contains("not today"));
    assert!(say(&mut chat, "/hooks off polit").contains("did you mean polite?"));
    assert!(say(&mut chat, "/hooks away polite").contains("use /hooks, /hooks on NAME"));
}

#[test]
fn a_guard_is_disabled_only_after_a_question() {
    let sandbox = sandbox();
    manifest_hook(&sandbox, "guard", "before_tool", "metadata: {fail: closed}\n", "echo '{}'");
    let mut chat = chat(&sandbox, "turns: []");
    chat.enter("/hooks off guard");
    chat.answer("The hook guard fails closed: it is a guard. Disable it? [y] yes  [n] no: ", "n");
    assert!(chat.wait_for(PROMPT).contains("The hook stays enabled."));
    chat.enter("/hooks off guard");
    chat.answer("[n] no: ", "y");
    assert!(chat.wait_for(PROMPT).contains("guard.disable"));
}

#[test]
fn a_hook_is_tested_and_its_name_completed() {
    let sandbox = sandbox();
    sandbox.sh_hook("polite", "user_message_send", DENY);
    let mut chat = chat(&sandbox, "turns: []");
    chat.type_in("/hooks te\tpol\t");
    chat.wait_for("/hooks test polite");
    let screen = say(&mut chat, "");
    assert!(screen.contains("not today"), "{screen}");
    let other = say(&mut chat, "/hooks test polite no_such_event");
    assert!(other.contains("there is no event"), "{other}");
}

#[test]
fn a_narrow_terminal_has_no_wide_lines() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "a-hook-with-a-rather-long-name-for-a-narrow-terminal",
        "user_message_send",
        DENY,
    );
    let mut chat = chat(&sandbox, "turns: []");
    say(&mut chat, "!!stty cols 60");
    let narrow = say(&mut chat, "/hooks");
    assert!(narrow.contains("a-hook-with-a-rather-long-name-for-a-narrow"), "{narrow}");
    assert!(narrow.contains("  before_agent · user\n"), "{narrow}");
    for line in narrow.lines() {
        assert!(line.chars().count() <= 60, "{line:?}");
    }
    say(&mut chat, "!!stty cols 200");
    assert!(say(&mut chat, "/hooks").contains("STATUS"));
}
