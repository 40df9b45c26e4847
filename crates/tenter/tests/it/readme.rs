//! The README's hooks do what the README says.

use std::fs;
use std::path::Path;

use crate::{headless, of_kind, sandbox};

const PUSH: &str =
    "turns: [{tool_calls: [{name: bash, input: {command: git push --force origin}}]}, {text: ok}]";

/// The README's code blocks of one language, in order.
fn blocks(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = fs::read_to_string(path).unwrap();
    let open = format!("```{language}\n");
    text.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_executable_hook_blocks_a_force_push() {
    let sandbox = sandbox();
    let script =
        blocks("bash").into_iter().find(|block| block.contains("before_tool_call")).unwrap();
    sandbox.user_hook("no-force-push", &script);
    let (lines, _) = headless(&sandbox, PUSH);
    assert_eq!(of_kind(&lines, "hook")[0]["reason"], "No force pushes from the agent.");
}

#[test]
fn the_manifest_hook_blocks_a_force_push() {
    let sandbox = sandbox();
    let folder = sandbox.home().join(".kodelet/hooks/no-force-push");
    fs::create_dir_all(folder.join("scripts")).unwrap();
    fs::write(folder.join("HOOK.md"), &blocks("markdown")[0]).unwrap();
    let script = blocks("bash").into_iter().find(|block| block.contains("scripts/run.sh")).unwrap();
    fs::write(folder.join("scripts/run.sh"), script).unwrap();
    let (lines, _) = headless(&sandbox, PUSH);
    let hook = of_kind(&lines, "hook")[0];
    assert_eq!(
        (&hook["decision"], &hook["reason"]),
        (&"deny".into(), &"No force pushes from the agent.".into())
    );
    let (lines, _) = headless(&sandbox, &PUSH.replace("--force", "--tags"));
    assert!(of_kind(&lines, "hook").is_empty(), "the matcher is about other pushes");
}
