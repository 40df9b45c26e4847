//! `@FILE` in a chat: completed and attached.

use super::{chat, say};
use crate::sandbox;
use tenter_testkit::assert_contains;

#[test]
fn a_mentioned_file_is_attached_and_hooks_see_it() {
    let sandbox = sandbox();
    sandbox.write("src/plan.md", "paint the shed green\n");
    sandbox.write("my notes.md", "buy brushes\n");
    sandbox.sh_hook("watch", "user_message_send", r#"printf '%s' "$payload" > seen.json"#);
    let mut chat = chat(
        &sandbox,
        "turns:
  - {text: First., expect: {contains: ['Look at @src/plan.md, please', paint the shed green, buy brushes]}}
  - {text: Second., expect: {contains: [ada@example.com], lacks: [no such file]}}",
    );
    let screen = say(&mut chat, "Look at @src/plan.md, please and @my\\ notes.md");
    assert!(screen.contains("@src/plan.md is attached: 1 line"), "{screen}");
    assert!(screen.contains("@my notes.md is attached: 1 line"), "{screen}");
    assert!(screen.contains("First."), "{screen}");
    assert!(sandbox.read("seen.json").contains("paint the shed green"));
    let screen = say(&mut chat, "mail ada@example.com about @gone.md");
    assert_contains(&screen, &["@gone.md is not attached: there is no such file", "Second."]);
}

#[test]
fn tab_completes_files_by_path_and_by_name() {
    let sandbox = sandbox();
    sandbox.write("src/deep/plan.md", "paint the shed green\n");
    sandbox.write("target/plant.o", "");
    sandbox.write(".gitignore", "target\n");
    let mut chat =
        chat(&sandbox, "turns: [{text: Done., expect: {contains: [paint the shed green]}}]");
    chat.type_in("read @pla\t");
    chat.wait_for("read @src/deep/plan.md");
    let screen = say(&mut chat, "");
    assert!(screen.contains("Done."), "{screen}");
}

#[test]
fn what_a_recipe_mentions_is_not_attached() {
    let sandbox = sandbox();
    sandbox.write("secret.md", "the key is under the mat\n");
    sandbox.write("recipes/look.md", "Look at @secret.md\n");
    let mut chat = chat(
        &sandbox,
        "turns: [{text: Seen., expect: {contains: ['@secret.md'], lacks: [under the mat]}}]",
    );
    let screen = say(&mut chat, "/recipe look");
    assert!(screen.contains("Seen.") && !screen.contains("is attached"), "{screen}");
}
