//! The README's hooks do what the README says, and the gate runs its commands.

use std::fs;
use std::path::Path;

use crate::{filter_kind, headless, sandbox};

/// Returns a file of the repository.
fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// Returns the README's code blocks of one language, in order.
fn blocks(language: &str) -> Vec<String> {
    let text = file("README.md");
    let open = format!("```{language}\n");
    text.split(&open).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Returns for each command whether the README's manifest hook blocks it.
fn blocked(commands: &[&str]) -> Vec<bool> {
    let sandbox = sandbox();
    let hook = "../home/.config/agents/hooks/no-force-push/HOOK.md";
    sandbox.write(hook, &blocks("markdown")[0]);
    let call = |command: &&str| {
        // Nothing is pushed, whatever the hook says.
        let command = serde_json::to_string(&format!("git() {{ :; }}\n{command}")).unwrap();
        format!("{{tool_calls: [{{name: bash, input: {{command: {command}}}}}]}}")
    };
    let calls: Vec<String> = commands.iter().map(call).collect();
    let (lines, _) = headless(&sandbox, &format!("turns: [{}, {{text: ok}}]", calls.join(", ")));
    let results = filter_kind(&lines, "tool-result");
    assert_eq!(results.len(), commands.len());
    results.iter().map(|result| result.to_string().contains("A force push overwrites")).collect()
}

#[test]
fn the_manifest_hook_blocks_force_pushes() {
    let commands = [
        "git push --force origin",
        "git push -f",
        "git  push   -f origin main",
        "git push -uf origin main",
        "git push -fu origin main",
        "git push \"--force\"",
        "git push '-f' origin",
        "git -C web push --force",
        "git -C 'web' push -f",
        "git -C \"my web\" push -f",
        "git -c a.b=c --no-pager push -f",
        "git push origin +main",
        "git push origin '+main:main'",
        "cd web && git push -f",
        "git add .; git push -f",
        "git commit -m x\ngit push --force",
        "sudo git -C dir push \"-fu\"",
        "F=--force; git push $F",
        "bash -c 'git push -f'",
    ];
    let missed: Vec<&str> =
        commands.iter().zip(blocked(&commands)).filter(|(_, is)| !is).map(|(c, _)| *c).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn the_manifest_hook_blocks_nothing_else() {
    let commands = [
        "git push",
        "git push -u origin main",
        "git push --tags",
        "git push --follow-tags",
        "git push --force-with-lease",
        "git commit -m \"never git push --force\"",
        "git commit -m 'git push -f'",
        "echo git push --force",
        "git fetch -f",
        "git checkout -f main; git push",
        "git push origin fix-f",
        "git log --grep push -- +x",
    ];
    let wrong: Vec<&str> =
        commands.iter().zip(blocked(&commands)).filter(|(_, is)| *is).map(|(c, _)| *c).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_executable_hook_sends_the_agent_back_once() {
    let sandbox = sandbox();
    sandbox.user_hook("reminder", &blocks("bash")[0]);
    let output = sandbox
        .play(
            "turns: [{text: Done.}, {text: Tested., expect: {contains: [Say what you tested]}}]",
            &["go"],
        )
        .expect_code(0);
    assert!(output.stdout.contains("Tested."), "{output}");
}

#[test]
fn the_first_hook_is_created_tested_and_listed_as_written() {
    let sandbox = sandbox();
    let commands = blocks("sh").into_iter().find(|block| block.contains("hooks new")).unwrap();
    for line in commands.lines() {
        let _ = sandbox.shell(line).expect_code(0);
    }
    assert!(sandbox.project().join(".agents/hooks/no-force-push/HOOK.md").exists());
}

#[test]
fn the_gate_runs_what_the_readme_says() {
    let gate = file(".ci/run");
    let commands = blocks("sh").concat();
    let cargo_commands: Vec<&str> =
        commands.lines().filter(|line| line.starts_with("cargo ")).collect();
    assert_eq!(cargo_commands.len(), 2, "{cargo_commands:?}");
    for command in cargo_commands {
        assert!(gate.lines().any(|line| line == command), "{command} is not a line of .ci/run");
    }
}
