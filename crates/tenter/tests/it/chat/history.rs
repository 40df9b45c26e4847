//! Input history: kept for the next chat, readable only by the user.

use std::os::unix::fs::PermissionsExt as _;

use super::{chat, chat_with, say};
use crate::sandbox;

const TWO_ANSWERS: &str = "turns: [{text: ok}, {text: ok}]";

#[test]
fn history_is_private_and_lines_after_a_space_are_not_kept() {
    let sandbox = sandbox();
    let mut first = chat(&sandbox, TWO_ANSWERS);
    say(&mut first, "remember me");
    say(&mut first, " forget me");
    first.enter("/exit");
    assert_eq!(first.end().0, Some(0));

    let file = sandbox.state().join("chat_history");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("remember me\n") && !text.contains("forget"), "{text}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let mut second = chat(&sandbox, "turns: [{text: Again., expect: {contains: [remember me]}}]");
    second.type_in("\x1b[A\x1b[A"); // arrow up: over /exit
    second.wait_for("remember me");
    assert!(say(&mut second, "").contains("Again."));
}

#[test]
fn without_storage_no_history_is_kept() {
    let sandbox = sandbox();
    let mut chat = chat_with(&sandbox, TWO_ANSWERS, &["--no-save"]);
    say(&mut chat, "secret plans");
    chat.enter("/exit");
    let (code, rest) = chat.end();
    assert_eq!(code, Some(0));
    assert!(!rest.contains("--resume"), "{rest}");
    assert!(!sandbox.state().join("chat_history").exists());
}
