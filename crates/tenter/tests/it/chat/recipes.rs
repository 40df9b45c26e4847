//! Recipes in a chat: their text, their restrictions, and their trust.

use super::{PROMPT, chat, say};
use crate::manifests::hook as manifest_hook;
use crate::sandbox;

#[test]
fn recipes_are_listed_completed_and_run_with_arguments_and_a_message() {
    let sandbox = sandbox();
    sandbox.write(
        "recipes/review.md",
        "---\ndescription: Review code\narguments: {directory: {default: src}, focus: {description: what matters}}\n---\nReview {{.directory}}, mind {{.focus}}.\n",
    );
    let mut chat = chat(
        &sandbox,
        r#"turns:
  - {text: Hello.}
  - {text: Reviewed., expect: {contains: [hi, "Review lib, mind the gap.\n\nand don't be long"]}}
  - {text: Bye., expect: {contains: [Reviewed., thanks]}}"#,
    );
    let listing = say(&mut chat, "/recipe");
    assert!(listing.contains("review") && listing.contains("Review code"), "{listing}");
    let missing = say(&mut chat, "/recipe review");
    assert!(missing.contains("the recipe \"review\" needs more arguments"), "{missing}");
    assert!(missing.contains("help: focus=… (what matters)"), "{missing}");
    assert!(say(&mut chat, "/recipe revue").contains("/recipe lists them"));
    say(&mut chat, "hi");
    chat.type_in("/rec\trev\t");
    chat.wait_for("/recipe review ");
    let screen = say(&mut chat, "directory=lib focus='the gap' and don't be long");
    assert!(screen.contains("Reviewed."), "{screen}");
    assert!(say(&mut chat, "thanks").contains("Bye."));
}

#[test]
fn a_recipes_restrictions_apply_to_its_message_only() {
    let sandbox = sandbox();
    manifest_hook(&sandbox, "witness", "before_agent", "", "echo \"$payload\" >> seen");
    sandbox.write("recipes/look.md", "---\nallowed_tools: [file_read]\n---\nLook.\n");
    let call =
        |file: &str| format!("tool_calls: [{{name: bash, input: {{command: touch {file}}}}}]");
    let mut chat = chat(
        &sandbox,
        &format!(
            "turns:
  - {}
  - {{text: Could not., expect: {{contains: [there is no tool]}}}}
  - {}
  - text: Could.",
            call("one"),
            call("two")
        ),
    );
    assert!(say(&mut chat, "/recipe look").contains("Could not."));
    assert!(!sandbox.project().join("one").exists());
    assert!(say(&mut chat, "go").contains("Could."));
    assert!(sandbox.project().join("two").exists());
    let content = sandbox.read("seen");
    assert_eq!(content.matches("\"recipe_name\": \"look\"").count(), 1, "{content}");
    chat.enter("/exit");
    let (_, rest) = chat.end();
    assert!(rest.contains("continue with: tenter chat --resume"), "{rest}");
}

#[test]
fn a_projects_recipe_starts_programs_only_if_it_is_trusted() {
    let sandbox = sandbox();
    sandbox.write("recipes/status.md", "Status: {{bash \"touch\" \"ran\"}}");
    let mut chat = chat(&sandbox, "turns: [{text: One.}, {text: Two.}, {text: Three.}]");
    chat.enter("/recipe status");
    chat.wait_for("recipe:status  starts touch ran");
    chat.wait_for("Let them run?");
    assert!(say(&mut chat, "q").contains("The recipe was not run."));
    chat.enter("/recipe status");
    chat.wait_for("Let them run?");
    assert!(say(&mut chat, "s").contains("One."));
    assert!(!sandbox.project().join("ran").exists());
    chat.enter("/recipe status");
    chat.answer("Let them run?", "t");
    chat.wait_for("Two.");
    chat.wait_for(PROMPT);
    assert!(sandbox.project().join("ran").exists());
    assert!(say(&mut chat, "/recipe status").contains("Three."));
}
