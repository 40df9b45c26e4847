//! Files that commands of a chat read and write: images, exports.

use std::os::unix::fs::PermissionsExt as _;

use super::{PROMPT, chat, say, start};
use crate::sandbox;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and so on";

#[test]
fn images_are_attached_to_the_next_message_only() {
    let sandbox = sandbox();
    for name in ["cat.png", "my cat's.png", "../home/home.png"] {
        std::fs::write(sandbox.project().join(name), PNG).unwrap();
    }
    let images = "'[image: image/png, ', '[image: https://example.org/dog.jpeg]', What is this?";
    let mut chat = chat(
        &sandbox,
        &format!(
            "turns:
  - {{text: A cat., expect: {{contains: [{images}]}}}}
  - {{text: Fine., expect: {{contains: [and this]}}}}"
        ),
    );
    assert!(say(&mut chat, "/image").contains("No image is attached."));
    let attached = say(&mut chat, "/image cat.png https://example.org/dog.jpeg");
    assert!(attached.contains("cat.png  image/png, "), "{attached}");
    assert!(say(&mut chat, "/image clear").contains("Removed the attached images."));
    say(&mut chat, "/image my cat's.png");
    say(&mut chat, "/image ~/home.png my\\ cat\\'s.png");
    let screen = say(&mut chat, "/image https://example.org/dog.jpeg");
    assert_eq!(screen.matches("my cat's.png").count(), 2, "{screen}");
    assert!(say(&mut chat, "What is this?").contains("A cat."));
    assert!(say(&mut chat, "/image").contains("No image is attached."));
    assert!(say(&mut chat, "and this").contains("Fine."));
}

#[test]
fn an_invalid_image_attaches_nothing_and_paths_are_completed() {
    let sandbox = sandbox();
    std::fs::write(sandbox.project().join("white cat.png"), PNG).unwrap();
    sandbox.write("notes.txt", "no image");
    let mut chat = chat(&sandbox, "turns: []");
    let screen = say(&mut chat, "/image white\\ cat.png notes.txt");
    assert!(screen.contains("notes.txt is not a PNG, JPEG, GIF or WebP image"), "{screen}");
    assert!(say(&mut chat, "/image gone.png").contains("gone.png: No such file"));
    assert!(say(&mut chat, "/image").contains("No image is attached."));
    chat.type_in("/ima\tw\t");
    chat.wait_for("/image white\\ cat.png");
    assert!(say(&mut chat, "").contains("white cat.png  image/png"));
}

#[test]
fn images_of_a_blocked_message_stay_attached() {
    let sandbox = sandbox();
    std::fs::write(sandbox.project().join("cat.png"), PNG).unwrap();
    sandbox.sh_hook(
        "polite",
        "user_message_send",
        r#"case "$payload" in *damn*) echo '{"blocked": true, "reason": "no swearing"}';; esac"#,
    );
    let expect = "expect: {contains: ['[image: image/png, ']}";
    let model = format!("turns: [{{text: A cat., {expect}}}]");
    let mut chat = start(&sandbox, &model, &["--image", "cat.png"]);
    chat.wait_for(PROMPT);
    assert!(say(&mut chat, "damn").contains("no swearing"));
    assert!(say(&mut chat, "/image").contains("cat.png"));
    assert!(say(&mut chat, "What is this?").contains("A cat."));
}

#[test]
fn a_conversation_is_exported_and_a_file_replaced_only_after_a_question() {
    let sandbox = sandbox();
    let mut chat = chat(&sandbox, "turns: [{text: Apples are **red**.}]");
    assert!(say(&mut chat, "/export").contains("there is nothing to export yet"));
    say(&mut chat, "what about apples?");
    sandbox.write("mine.md", "precious");
    chat.enter("/export mine.md");
    chat.wait_for("mine.md exists. Replace it?");
    assert!(say(&mut chat, "n").contains("Nothing was written."));
    assert_eq!(sandbox.read("mine.md"), "precious");
    chat.enter("/export mine.md");
    chat.wait_for("mine.md exists. Replace it?");
    assert!(say(&mut chat, "y").contains("Wrote "));
    let text = sandbox.read("mine.md");
    assert!(
        text.contains("what about apples?") && text.contains("> Apples are **red**."),
        "{text}"
    );

    let wrote = say(&mut chat, "/export ~/");
    let name = wrote.split("/home/").nth(1).unwrap().split(".md").next().unwrap();
    assert!(name.starts_with("conversation-20"), "{wrote}");
    let file = sandbox.project().join(format!("../home/{name}.md"));
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(say(&mut chat, "/export nowhere/x.md").contains("cannot write "));
}
