//! `tenter hooks new`: manifest hooks, and that what it writes works.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use insta::assert_snapshot;
use tenter_testkit::{Sandbox, has_python};

use super::run_with_env;
use crate::sandbox;

const EVENTS: [&str; 13] = [
    "session_start",
    "before_agent",
    "before_tool",
    "after_tool",
    "after_tool_failure",
    "after_turn",
    "before_stop",
    "after_agent",
    "subagent_start",
    "subagent_stop",
    "pre_compact",
    "post_compact",
    "session_end",
];

/// Writes a hook for every event; each is active, valid and passes the tests that came with it.
fn check_language(sandbox: &Sandbox, language: &str) {
    for event in EVENTS {
        let name = event.replace('_', "-");
        let args = ["hooks", "new", &name, "--event", event, "--lang", language];
        let _ = sandbox.run(&args).expect_code(0);
        let tested = sandbox.run(&["hooks", "test", &name]).expect_code(0);
        assert!(tested.stdout.ends_with("2 passed, 0 failed\n"), "{tested}");
    }
    let valid = sandbox.run(&["hooks", "validate", "--strict", ".kodelet/hooks"]).expect_code(0);
    assert_eq!(valid.stdout.lines().count(), EVENTS.len(), "{valid}");
    let well = sandbox.run(&["hooks", "doctor"]).expect_code(0);
    assert_eq!(well.stdout, "All is well: 13 hooks are ready.\n");
}

#[test]
fn every_bash_template_is_valid_and_passes_its_tests() {
    check_language(&sandbox(), "bash");
}

#[test]
fn every_python_template_is_valid_and_passes_its_tests() {
    if has_python() {
        check_language(&sandbox(), "python");
    }
}

#[test]
fn a_rust_hook_compiles_itself_and_passes_its_tests() {
    let sandbox = sandbox();
    let folder = Path::new(env!("CARGO")).parent().unwrap().display();
    let path = format!("{folder}:/usr/local/bin:/usr/bin:/bin");
    for event in ["before_tool", "after_tool"] {
        let name = event.replace('_', "-");
        let args = ["hooks", "new", &name, "--event", event, "--lang", "rust"];
        let _ = run_with_env(&sandbox, &args, &[("PATH", &path)]).expect_code(0);
        // From here on there is no compiler: what is run is what was compiled.
        let tested = sandbox.run(&["hooks", "test", &name]);
        assert_eq!(tested.code, Some(0), "{tested}");
    }
}

#[test]
fn the_other_rust_templates_compile_without_a_warning() {
    let sandbox = sandbox();
    let folder = Path::new(env!("CARGO")).parent().unwrap().display();
    let path = format!("{folder}:/usr/local/bin:/usr/bin:/bin");
    let compile = |event: &str| {
        let name = event.replace('_', "-");
        let args = ["hooks", "new", &name, "--event", event, "--lang", "rust"];
        let _ = run_with_env(&sandbox, &args, &[("PATH", "/nowhere")]).expect_code(0);
        let file = sandbox.project().join(".kodelet/hooks").join(&name).join("scripts/run");
        format!(
            "rustc --crate-name hook --edition 2021 -D warnings --emit metadata -o {event} {} || exit 1\n",
            file.display()
        )
    };
    let script = EVENTS.map(compile).concat();
    sandbox.sh_hook("compiler", "agent_stop", &script);
    let output = run_with_env(&sandbox, &["hooks", "test", "compiler"], &[("PATH", &path)]);
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn a_new_hook_is_a_trusted_folder_and_says_what_to_do_next() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run(&["hooks", "new", "guard", "--event", "pre-tool-call"]), @"
    exit: 0
    --- stdout
    [ROOT]/project/.kodelet/hooks/guard
    --- stderr
    Try it:    tenter hooks test guard
    Change it, then trust what you made of it:    tenter trust
    ");
    let folder = sandbox.project().join(".kodelet/hooks/guard");
    let mode = fs::metadata(folder.join("scripts/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert!(sandbox.read(".kodelet/hooks/guard/HOOK.md").contains("\ntrigger: before_tool\n"));
    let left = fs::read_dir(sandbox.project().join(".kodelet/hooks")).unwrap().count();
    assert_eq!(left, 1, "nothing is left over");
    fs::write(folder.join("scripts/run.sh"), "exit 0\n").unwrap();
    assert_eq!(
        sandbox.run(&["hooks", "test", "guard"]).code,
        Some(4),
        "what it was changed to is not trusted"
    );
}

#[test]
fn a_word_that_only_executables_use_means_an_executable() {
    let sandbox = sandbox();
    let is_file = |name: &str, args: &[&str]| {
        let _ = sandbox.run(&[&["hooks", "new", name], args].concat()).expect_code(0);
        sandbox.project().join(".kodelet/hooks").join(name).is_file()
    };
    assert!(is_file("a", &["--event", "before_tool_call"]));
    assert!(!is_file("b", &["--event", "before_tool"]));
    assert!(!is_file("c", &["--event", "after_turn"]), "both have this word");
    assert!(!is_file("d", &["--event", "agent_stop", "--format", "manifest"]));
    assert!(is_file("e", &["--event", "before_stop", "--format", "executable"]));
}

#[test]
fn a_new_guard_guards_an_agent_at_once() {
    let sandbox = sandbox();
    let _ = sandbox.run(&["hooks", "new", "guard"]).expect_code(0);
    let model = sandbox.script("turns: [{tool_calls: [{name: bash, input: {command: \"rm -rf / --no-preserve-root\"}}]}, {text: ok}]");
    let output = sandbox.run(&["run", "--model", &model, "clean up"]).expect_code(0);
    assert!(output.stderr.contains("blocked by hook guard"), "{output}");
}

#[test]
fn a_users_hook_stands_in_the_home_folder() {
    let sandbox = sandbox();
    let output = sandbox.run(&["hooks", "new", "guard", "--user"]).expect_code(0);
    assert_eq!(output.normal(&output.stdout), "[ROOT]/home/.kodelet/hooks/guard\n");
}

#[test]
fn what_is_there_is_replaced_only_when_asked_for() {
    let sandbox = sandbox();
    sandbox.write(".kodelet/hooks/guard/HOOK.md", "mine");
    assert_snapshot!(sandbox.run(&["hooks", "new", "guard"]), @"
    exit: 1
    --- stderr
    error: [ROOT]/project/.kodelet/hooks/guard exists already
      help: choose another name, or replace it with --force
    ");
    assert_eq!(sandbox.read(".kodelet/hooks/guard/HOOK.md"), "mine");
    let _ = sandbox.run(&["hooks", "new", "guard", "--force"]).expect_code(0);
    assert_eq!(sandbox.run(&["hooks", "test", "guard"]).code, Some(0));
    assert_eq!(fs::read_dir(sandbox.project().join(".kodelet/hooks")).unwrap().count(), 1);
}

#[test]
fn names_that_a_manifest_cannot_have_are_refused_before_anything_is_written() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.run(&["hooks", "new", "No_Sudo"]), @r#"
    exit: 2
    --- stderr
    error: a manifest hook cannot have the name "No_Sudo": the name contains upper-case letters
      help: for example `no-sudo`
    "#);
    for name in ["a b", "guard.sh", "-x", "x: y"] {
        assert_eq!(sandbox.run(&["hooks", "new", "--", name]).code, Some(2), "{name}");
    }
    assert!(!sandbox.project().join(".kodelet").exists());
}
