//! Scripts that cannot run: `hooks test`, `doctor` and `validate` say why.

use std::fs;

use tenter_testkit::Sandbox;

use super::{manifest, project_hooks, user_hooks};
use crate::sandbox;

/// Returns a user's hook with this script, and a test that expects nothing of it.
fn hook_with_test(script: &str) -> Sandbox {
    let sandbox = sandbox();
    let directory = manifest(&user_hooks(&sandbox), "broken", "trigger: before_tool", script);
    fs::create_dir(directory.join("tests")).unwrap();
    let test = r#"{"description": "Nothing happens.", "expect": {"decision": "none"}}"#;
    fs::write(directory.join("tests/passes.json"), test).unwrap();
    sandbox
}

#[test]
fn a_failing_test_shows_how_the_hook_ended_and_what_it_wrote() {
    let sandbox = hook_with_test("echo 'no such table: users' >&2\nexit 3");
    let output = sandbox.run("hooks test broken").expect_code(1);
    for text in ["FAIL tests/passes.json", "ended exit 3 after", "no such table: users"] {
        assert!(output.stdout.contains(text), "{text}: {output}");
    }
    let json = sandbox.run("hooks test broken --json").json();
    assert_eq!(json[0]["run"]["stderr"], "no such table: users\n");
}

#[test]
fn a_passing_test_shows_nothing_of_the_run() {
    let sandbox = hook_with_test("echo chatter >&2");
    let output = sandbox.run("hooks test broken").expect_code(0);
    assert!(!output.stdout.contains("chatter"), "{output}");
}

#[test]
fn syntax_errors_are_reported_with_their_line() {
    let sandbox = hook_with_test("if true; then\n  echo yes");
    for command in [&["hooks", "validate"][..], &["hooks", "doctor"]] {
        let output = sandbox.run(command).expect_code(1);
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(text.contains("/bin/sh cannot read the script: "), "{command:?}: {output}");
    }
}

#[test]
fn a_module_that_the_script_starts_is_read_as_well() {
    let sandbox = hook_with_test("exec python3 hook.py");
    let scripts = user_hooks(&sandbox).join("broken/scripts");
    fs::write(scripts.join("hook.py"), "import sys\nif True print()\n").unwrap();
    tenter_testkit::skip_unless!(tenter_testkit::needs::has("python3"));
    let output = sandbox.run("hooks validate").expect_code(1);
    assert!(format!("{output}").contains("python3 cannot read the script: line 2: "), "{output}");
}
/// Adds a project's hook with this line in its front matter, which sets it to fail closed.
fn closed_hook(sandbox: &Sandbox, line: &str) {
    let front = format!("trigger: before_tool\n{line}\nmetadata: {{fail: closed}}");
    manifest(&project_hooks(sandbox), "guard", &front, "exit 0");
}

/// A slip that makes YAML unreadable.
const SLIP: &str = "compatibility: Blocks: things";

/// Runs a command in a session, and returns whether it ran.
fn is_run(sandbox: &Sandbox) -> bool {
    let call = "{name: bash, input: {command: touch ran}}";
    let _ =
        sandbox.play(&format!("turns:\n  - tool_calls: [{call}]\n  - text: Done.\n"), &["Do it."]);
    sandbox.project().join("ran").exists()
}

#[test]
fn a_slip_in_the_front_matter_of_a_new_hook_blocks_nothing_and_has_a_line() {
    let sandbox = sandbox();
    let _ = sandbox.run("hooks new my-first").expect_code(0);
    let file = project_hooks(&sandbox).join("my-first/HOOK.md");
    let text = fs::read_to_string(&file).unwrap();
    let slip = "description: Blocks: things";
    let text: Vec<&str> = text
        .lines()
        .map(|line| if line.starts_with("description:") { slip } else { line })
        .collect();
    fs::write(&file, text.join("\n")).unwrap();
    assert!(is_run(&sandbox));
    let output = sandbox.run("hooks doctor").expect_code(1);
    assert!(format!("{output}").contains("my-first/HOOK.md:3:"), "{output}");
    assert!(!format!("{output}").contains("fail closed"), "{output}");
}

#[test]
fn a_hook_that_was_never_trusted_blocks_nothing_whatever_its_front_matter_says() {
    let sandbox = sandbox();
    closed_hook(&sandbox, "matcher: {pattern: '(rm'}");
    assert!(is_run(&sandbox));
}

#[test]
fn a_broken_manifest_removes_no_guard_that_was_trusted_to_fail_closed() {
    let sandbox = sandbox();
    closed_hook(&sandbox, "matcher: {tool: bash}");
    let _ = sandbox.run("trust --yes").expect_code(0);
    closed_hook(&sandbox, SLIP);
    assert!(!is_run(&sandbox));
}
