//! The texts that the model is sent besides the conversation: context files, the environment, pictures.

use insta::assert_snapshot;
use serde_json::json;
use tenter_testkit::assert_fields;

use crate::{filter_kind, headless, sandbox};

/// The beginning of a PNG file.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

#[test]
fn project_and_user_instructions_and_the_environment_are_sent() {
    let sandbox = sandbox();
    sandbox.write("AGENTS.md", "Indent with tabs.\n");
    sandbox.write("../home/.kodelet/AGENTS.md", "Say please.\n");
    sandbox.write("../home/.config/agents/AGENTS.md", "Say thanks.\n");
    sandbox.write(".git/HEAD", "ref: refs/heads/trunk\n");
    let (_, code) = headless(
        &sandbox,
        "turns: [{text: ok, expect: {contains: [Indent with tabs., Say please., Say thanks., project/AGENTS.md, the branch trunk, 'Today (UTC): 20']}}]",
    );
    assert_eq!(code, 0);
}

#[test]
fn a_context_file_outside_the_project_is_reported_and_not_sent() {
    let sandbox = sandbox();
    sandbox.write("../home/.netrc", "password swordfish");
    std::os::unix::fs::symlink(sandbox.home().join(".netrc"), sandbox.project().join("AGENTS.md"))
        .unwrap();
    let (lines, code) = headless(&sandbox, "turns: [{text: ok, expect: {lacks: [swordfish]}}]");
    assert_eq!(code, 0);
    let finding = filter_kind(&lines, "diagnostic")[0];
    assert_fields(finding, &json!({"id": "context-file-outside", "severity": "warning"}));
}

#[test]
fn images_are_sent_with_the_query_and_hooks_see_its_text() {
    let sandbox = sandbox();
    sandbox.write("cat.png", PNG);
    sandbox.sh_hook("seen", "user_message_send", "echo \"$payload\" > seen");
    let model = sandbox.script(
        "turns: [{text: A cat., expect: {contains: ['[image: image/png, ', '[image: https://example.org/dog.jpeg]', What is this?]}}]",
    );
    let dog = "https://example.org/dog.jpeg";
    let args = ["run", "--result-only", "--model", &model, "--image", "cat.png", "--image", dog];
    let output = sandbox.run([&args[..], &["What is this?"]].concat()).expect_code(0);
    assert_eq!(output.stdout, "A cat.\n");
    let content = sandbox.read("seen");
    assert!(
        content.contains("\"message\": \"What is this?\"") && !content.contains("image"),
        "{content}"
    );
}

#[test]
fn an_invalid_image_is_a_usage_error() {
    let sandbox = sandbox();
    sandbox.write("cat.png", "<svg/>");
    let model = sandbox.script("turns: [{text: never}]");
    assert_snapshot!(sandbox.run(["run", "--model", &model, "--image", "cat.png", "What is this?"]), @"
    exit: 2
    --- stderr
    error: [ROOT]/project/cat.png is not a PNG, JPEG, GIF or WebP image; convert it to one of these
    ");
    assert_snapshot!(sandbox.run(["run", "--model", &model, "--image", "https://example.org/cat", "What is this?"]), @"
    exit: 2
    --- stderr
    error: the URL https://example.org/cat does not end with .png, .jpg, .jpeg, .gif or .webp; download the image and pass the file
    ");
    assert!(!sandbox.state().join("conversations.db").exists());
}
