//! `tenter hooks validate`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use serde_json::json;
use tenter_testkit::assert_fields;

use super::{manifest, project_hooks, user_hooks};
use crate::sandbox;

#[test]
fn a_valid_hook_is_found_by_every_form_of_its_name() {
    let sandbox = sandbox();
    let hooks = project_hooks(&sandbox);
    manifest(&hooks, "guard", "trigger: before_tool", "");
    manifest(&hooks, "audit", "trigger: session_end", "");
    assert_snapshot!(sandbox.run("hooks validate .agents/hooks/guard"), @"
    exit: 0
    --- stdout
    Valid hook: .agents/hooks/guard
    ");
    let by_file = sandbox.run("hooks validate .agents/hooks/guard/HOOK.md");
    assert_eq!(by_file.expect_code(0).stdout, "Valid hook: .agents/hooks/guard/HOOK.md\n");
    assert_snapshot!(sandbox.run("hooks validate .agents/hooks"), @"
    exit: 0
    --- stdout
    Valid hook: .agents/hooks/audit
    Valid hook: .agents/hooks/guard
    ");
    let from_inside = sandbox.shell(
        "cd .agents/hooks/guard && tenter hooks validate HOOK.md && tenter hooks validate .",
    );
    assert_eq!(from_inside.expect_code(0).stdout, "Valid hook: HOOK.md\nValid hook: .\n");
}

#[test]
fn all_errors_are_shown_with_their_location_and_other_hooks_are_still_checked() {
    let sandbox = sandbox();
    let hooks = project_hooks(&sandbox);
    manifest(&hooks, "bad", "trigger: befor_tool\ntimeout: 5\nmatcher: {tool: \"(\"}", "");
    manifest(&hooks, "good", "trigger: before_tool", "");
    assert_snapshot!(sandbox.run("hooks validate .agents/hooks"), @r#"
    exit: 1
    --- stdout
    Valid hook: .agents/hooks/good
    --- stderr
    error: .agents/hooks/bad/HOOK.md:4:10: `befor_tool` is not an event
      4 | trigger: befor_tool
                   ^^^^^^^^^^
      help: did you mean `before_tool`?
    error: .agents/hooks/bad/HOOK.md:5:10: `timeout` is 5, less than 100
      5 | timeout: 5
                   ^
      help: write a number of milliseconds from 100 to 600000
    error: .agents/hooks/bad/HOOK.md:6:17: `matcher.tool` cannot be used: it is not a regular expression: unclosed group (at character 1)
      6 | matcher: {tool: "("}
                          ^^^
      help: put a backslash before a character that is meant as itself
    "#);
}

#[test]
fn warnings_are_errors_only_with_the_flag() {
    let sandbox = sandbox();
    let directory = manifest(&project_hooks(&sandbox), "guard", "trigger: before_tool", "");
    fs::set_permissions(directory.join("scripts/run.sh"), fs::Permissions::from_mode(0o644))
        .unwrap();
    assert_snapshot!(sandbox.run("hooks validate .agents/hooks/guard"), @"
    exit: 0
    --- stdout
    Valid hook: .agents/hooks/guard
    --- stderr
    warning: .agents/hooks/guard/scripts/run.sh: the script is not executable; bash runs it
      help: begin it with a #! line, and chmod +x .agents/hooks/guard/scripts/run.sh
    ");
    assert_eq!(sandbox.run("hooks validate --strict .agents/hooks/guard").code, Some(1));
    fs::rename(directory.join("scripts/run.sh"), directory.join("scripts/run")).unwrap();
    assert_snapshot!(sandbox.run("hooks validate .agents/hooks/guard"), @"
    exit: 1
    --- stderr
    error: .agents/hooks/guard/scripts/run: the script is not executable, and its name does not imply an interpreter
      help: chmod +x .agents/hooks/guard/scripts/run
    ");
    fs::remove_file(directory.join("scripts/run")).unwrap();
    assert_snapshot!(sandbox.run("hooks validate .agents/hooks/guard"), @"
    exit: 0
    --- stdout
    Valid hook: .agents/hooks/guard
    --- stderr
    warning: .agents/hooks/guard: the hook has no script, so it does nothing
      help: add a script: the first that exists is used of scripts/run, scripts/run.sh, scripts/run.py
    ");
}

#[test]
fn the_json_form_has_every_finding() {
    let sandbox = sandbox();
    let hooks = project_hooks(&sandbox);
    manifest(&hooks, "bad", "trigger: before_tool\npriority: 1001", "");
    manifest(&hooks, "good", "trigger: before_tool", "");
    let output = sandbox.run("hooks validate --json .agents/hooks").expect_code(1);
    assert!(output.stderr.is_empty(), "{output}");
    let checks = output.json();
    assert_eq!(checks[1], json!({"path": ".agents/hooks/good", "valid": true, "diagnostics": []}));
    assert_fields(&checks[0], &json!({"path": ".agents/hooks/bad", "valid": false}));
    let finding = &checks[0]["diagnostics"][0];
    assert_eq!([&finding["id"], &finding["severity"]], ["manifest-priority", "error"]);
    assert_fields(finding, &json!({"place": {"line": 5, "source": "priority: 1001"}}));
}

#[test]
fn something_that_is_not_a_hook_differs_from_a_missing_path() {
    let sandbox = sandbox();
    sandbox.write("empty/notes.txt", "");
    assert_eq!(sandbox.run("hooks validate missing").code, Some(2));
    let none = sandbox.run("hooks validate").expect_code(0);
    assert!(none.stderr.starts_with("There are no hooks"), "{none}");
    assert_snapshot!(sandbox.run("hooks validate empty/notes.txt"), @"
    exit: 1
    --- stderr
    error: empty/notes.txt: the file is not executable
      help: run chmod +x empty/notes.txt
    ");
    assert_snapshot!(sandbox.run("hooks validate empty"), @"
    exit: 1
    --- stderr
    error: empty: no hook found: no HOOK.md here or in a subdirectory, and no executable
      help: to create a hook, run `tenter hooks new NAME`
    ");
}

#[test]
fn without_a_path_every_hook_of_every_layer_is_checked() {
    let sandbox = sandbox();
    manifest(&project_hooks(&sandbox), "guard", "trigger: before_tool", "");
    manifest(&user_hooks(&sandbox), "bad", "trigger: befor_tool", "");
    sandbox.hook("foreign", "#!/bin/sh\ntouch ran\n");
    sandbox.user_hook("typo", "#!/bin/sh\necho PreToolUse\n");
    sandbox.user_hook("fine", super::SILENT);
    let script = sandbox.user_hook("forgotten", super::SILENT);
    fs::set_permissions(script, fs::Permissions::from_mode(0o644)).unwrap();
    let notes = sandbox.home().join(".kodelet/hooks/notes.txt");
    fs::write(notes, "not a hook").unwrap();
    fs::write(user_hooks(&sandbox).join("hooks.toml"), "[hooks]\nenabledd = true\n").unwrap();
    assert_snapshot!(sandbox.run("hooks validate"), @r#"
    exit: 1
    --- stdout
    Not checked: [ROOT]/project/.kodelet/hooks/foreign
    Valid hook: [ROOT]/project/.agents/hooks/guard
    Valid hook: [ROOT]/home/.kodelet/hooks/fine
    Valid hook: [ROOT]/home/.kodelet/hooks/forgotten
    --- stderr
    warning: [ROOT]/project/.kodelet/hooks/foreign: it is not trusted, so it was not asked for its events
      help: review it, run `tenter trust`, and validate it again
    warning: [ROOT]/home/.kodelet/hooks/forgotten: the script is not executable, so it is not a hook
      help: run chmod +x [ROOT]/home/.kodelet/hooks/forgotten
    error: [ROOT]/home/.kodelet/hooks/typo: it printed "PreToolUse" instead of an event when it was asked `hook`; did you mean "before_tool_call"?
    error: [ROOT]/home/.config/agents/hooks/bad/HOOK.md:4:10: `befor_tool` is not an event
      4 | trigger: befor_tool
                   ^^^^^^^^^^
      help: did you mean `before_tool`?
    error: [ROOT]/home/.config/agents/hooks/hooks.toml: it is not understood: TOML parse error at line 2, column 1
        |
      2 | enabledd = true
        | ^^^^^^^^
      unknown field `enabledd`, expected one of `enabled`, `debug`, `defaults`, `disable`, `override`
      help: the file has no effect; `tenter help manifest-hooks` lists its keys
    "#);
    assert!(!sandbox.project().join("ran").exists(), "an untrusted hook was run");
}

#[test]
fn an_untrusted_executable_is_reported_as_not_checked() {
    let sandbox = sandbox();
    sandbox.hook("typo", "#!/bin/sh\necho PreToolUse\n");
    let path = ".kodelet/hooks/typo";
    let text = sandbox.run(["hooks", "validate", path]).expect_code(0);
    assert_eq!(text.stdout, format!("Not checked: {path}\n"));
    assert!(text.stderr.contains("run `tenter trust`"), "{text}");
    let checks = sandbox.run(["hooks", "validate", "--json", path]).expect_code(0).json();
    assert_eq!(checks[0]["valid"], json!(null));
    assert_eq!(checks[0]["diagnostics"][0]["id"], "executable-not-checked");
    let strict = sandbox.run(["hooks", "validate", "--strict", path]).expect_code(1);
    assert_eq!(strict.stdout, "");
}

#[test]
fn an_executable_is_checked_as_well() {
    let sandbox = sandbox();
    let fine = sandbox.user_hook("fine", super::SILENT);
    let typo = sandbox.user_hook("typo", "#!/bin/sh\necho PreToolUse\n");
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let output = sandbox.run(["hooks", "validate", &path(&fine)]).expect_code(0);
    assert!(output.stdout.starts_with("Valid hook: "), "{output}");
    sandbox.fails(1, ["hooks", "validate", &path(&typo)], "did you mean \"before_tool_call\"?");
    let elsewhere = sandbox.write("draft.sh", "#!/no/such/shell\n");
    sandbox.fails(1, "hooks validate draft.sh", "the file is not executable");
    fs::set_permissions(elsewhere, fs::Permissions::from_mode(0o755)).unwrap();
    let output = sandbox.run("hooks validate draft.sh").expect_code(1);
    assert!(output.stderr.contains("its interpreter /no/such/shell is not installed"), "{output}");
    assert!(output.stderr.contains("it was not asked for its events"), "{output}");
    let directory =
        sandbox.run(["hooks", "validate", &path(fine.parent().unwrap())]).expect_code(1);
    assert!(directory.stdout.contains("/fine"), "{directory}");
}

#[test]
fn a_script_that_cannot_start_or_is_not_used_is_reported() {
    let sandbox = sandbox();
    let guard = manifest(&project_hooks(&sandbox), "guard", "trigger: before_tool", "");
    let run = guard.join("scripts/run");
    let ids = || {
        let checks = sandbox.run("hooks validate --json .agents/hooks/guard").json();
        let findings = checks[0]["diagnostics"].as_array().unwrap().clone();
        findings.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(), [] as [&str; 0]);
    fs::write(&run, "echo no\n").unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(ids(), ["script-not-executable", "script-not-used"]);
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ids(), ["script-without-interpreter", "script-not-used"]);
    fs::write(&run, "#!/bin/sh\n").unwrap();
    assert_eq!(ids(), ["script-not-used"]);
    let _ = sandbox.run("trust --yes").expect_code(0);
    sandbox.prints("hooks list", "it runs scripts/run\n");
    fs::remove_file(guard.join("scripts/run.sh")).unwrap();
    assert_eq!(ids(), [] as [&str; 0]);
}
