//! The example agent, run under real hooks.

use tenter_engine::{Engine, Scope};

use crate::scene::{PROJECT_AGENTS, Scene};

#[path = "../../examples/embed.rs"]
#[expect(dead_code, reason = "the example's `main` reads the real environment")]
mod example;

const GUARD: &str = "---
name: guard
description: Decides on shell commands.
trigger: before_tool
matcher:
  tool: ^Bash$
---
";

/// Denies, asks, rewrites or allows, by the command.
const DECIDE: &str = r#"#!/bin/sh
payload=$(cat)
case $payload in
  *'"rm '*) echo '{"decision": "deny", "reason": "rm is not allowed"}' ;;
  *'"push'*) echo '{"decision": "ask", "reason": "this leaves the machine"}' ;;
  *'"echo old'*) echo '{"decision": "allow", "updated_input": {"command": "echo new"}}' ;;
esac
"#;

fn manifest(name: &str, trigger: &str) -> String {
    format!("---\nname: {name}\ndescription: A test.\ntrigger: {trigger}\n---\n")
}

/// Returns the messages that the model of the example read in a project with these hooks, each with its manifest and script.
fn conversation(hooks: &[(&str, &str, &str)], message: &str, model: &[&str]) -> Vec<String> {
    let scene = Scene::new();
    for (name, manifest, script) in hooks {
        scene.file(&format!("{PROJECT_AGENTS}/{name}/HOOK.md"), manifest, 0o644);
        scene.file(&format!("{PROJECT_AGENTS}/{name}/scripts/run"), script, 0o755);
    }
    let (engine, diagnostics): (Engine, _) = scene.builder().tool_alias("run", "bash").load();
    assert_eq!(diagnostics, []);
    let hooks = engine.session(Scope::new("conversation-1", &scene.layout.project));
    let mut agent = example::Agent { hooks, conversation: Vec::new() };
    agent.answer(message, model);
    agent.conversation
}

#[test]
fn the_example_agent_applies_deny_ask_and_rewrite() {
    let model = ["$ rm -r .", "$ push", "$ echo old", "$ echo as it is", "Done."];
    let log = conversation(&[("guard", GUARD, DECIDE)], "go", &model);
    assert_eq!(
        log,
        [
            "go",
            "<error>blocked by hook: rm is not allowed</error>",
            "<error>blocked by hook: this leaves the machine (the hook guard asked, and the answer was no)</error>",
            "new\n",
            "as it is\n",
            "Done."
        ]
    );
}

#[test]
fn the_example_agent_continues_if_a_hook_requests_it() {
    let once = "#!/bin/sh\n[ -e asked ] || echo '{\"decision\": \"deny\", \"reason\": \"run the tests\"}'\n: > asked\n";
    let check = manifest("check", "before_stop");
    let log = conversation(&[("check", &check, once)], "go", &["Done.", "Tested.", "unheard"]);
    assert_eq!(log, ["go", "Done.", "run the tests", "Tested."]);
}

#[test]
fn the_example_agent_does_not_add_a_denied_message() {
    let deny = "#!/bin/sh\necho '{\"decision\": \"deny\", \"reason\": \"not today\"}'\n";
    let guard = manifest("guard", "before_agent");
    assert_eq!(conversation(&[("guard", &guard, deny)], "go", &["unheard"]), ["not today"]);
}

#[test]
fn the_page_about_embedding_shows_the_example() {
    let page = include_str!("../../../../../docs/embedding.md");
    let example = include_str!("../../examples/embed.rs");
    assert!(page.contains(&format!("```rust\n{example}```\n")), "copy embed.rs into embedding.md");
    assert!(example.lines().count() <= 80, "the example stays short");
}
