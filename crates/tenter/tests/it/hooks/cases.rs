//! `tenter hooks test` on a hook that has tests.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{manifest, user_hooks};
use crate::sandbox;

const GUARD: &str = "event=$(cat)\ncase $event in *'rm -rf'*) echo 'too dangerous' >&2; exit 2 ;; esac\necho '{\"modified_input\": {\"command\": \"ls\"}, \"additional_context\": \"be careful\"}'";

fn test(hook: &Path, name: &str, case: &Value) {
    fs::create_dir_all(hook.join("tests")).unwrap();
    fs::write(hook.join("tests").join(name), case.to_string()).unwrap();
}

#[test]
fn tests_are_run_and_a_mismatch_is_shown_as_a_diff() {
    let sandbox = sandbox();
    let hook = manifest(
        &user_hooks(&sandbox),
        "guard",
        "trigger: before_tool\nmatcher: {tool: ^Shell$}",
        GUARD,
    );
    let rm = json!({"tool_input": {"command": "rm -rf /"}});
    test(
        &hook,
        "denies.json",
        &json!({"description": "Deletion is blocked.", "event": rm, "expect": {"decision": "deny", "exit": 2, "reason": "dangerous"}}),
    );
    test(
        &hook,
        "rewrites.json",
        &json!({"expect": {"modified_input": {"command": "ls"}, "context": "careful", "stderr": ""}}),
    );
    test(
        &hook,
        "skips.json",
        &json!({"event": {"tool_name": "WriteFile"}, "expect": {"decision": "unmatched"}}),
    );
    assert_snapshot!(sandbox.run("hooks test guard"), @"
    exit: 0
    --- stdout
    pass tests/denies.json  Deletion is blocked.
    pass tests/rewrites.json
    pass tests/skips.json
    3 passed, 0 failed
    ");
    test(&hook, "wrong.json", &json!({"event": rm, "expect": {"decision": "allow", "exit": 2}}));
    test(&hook, "z.json", &json!({"expect": {"decison": "allow"}}));
    assert_snapshot!(sandbox.run("hooks test guard"), @r#"
    exit: 1
    --- stdout
    pass tests/denies.json  Deletion is blocked.
    pass tests/rewrites.json
    pass tests/skips.json
    FAIL tests/wrong.json
      - expected + got
          {
        -   "decision": "allow",
        +   "decision": "deny",
            "exit": 2
          }
      ended exit 2 after [N] ms
      stderr
        too dangerous
    FAIL tests/z.json
      unknown key "decison" in "expect"; the keys are decision, exit, reason, context, stdout, stderr, modified_input, modified_output, modified_prompt
    3 passed, 2 failed
    "#);
}

#[test]
fn the_json_form_has_every_test() {
    let sandbox = sandbox();
    let hook = manifest(&user_hooks(&sandbox), "guard", "trigger: before_tool", GUARD);
    test(&hook, "a.json", &json!({"expect": {"decision": "deny"}}));
    test(&hook, "b.json", &json!({"expect": {}}));
    let results = sandbox.run("hooks test guard --json").expect_code(1).json();
    assert_eq!(results[0]["run"]["decision"], "rewrite", "{results}");
    let mut first = results[0].clone();
    first.as_object_mut().unwrap().remove("run");
    assert_eq!(
        first,
        json!({"file": hook.join("tests/a.json"), "description": null, "passed": false,
        "expected": {"decision": "deny"}, "got": {"decision": "rewrite"}, "error": null})
    );
    assert!(results[1]["error"].as_str().unwrap().contains("\"expect\" is empty"), "{results}");
}

#[test]
fn of_all_hooks_only_failed_tests_are_shown_unless_asked_for() {
    let sandbox = sandbox();
    let hook = manifest(&user_hooks(&sandbox), "guard", "trigger: before_tool", GUARD);
    test(&hook, "a.json", &json!({"expect": {"decision": "rewrite"}}));
    test(&hook, "b.json", &json!({"expect": {}}));
    let lines_of = |args: &[&str]| {
        let output = sandbox.run([&["hooks", "test"], args].concat()).expect_code(1);
        let lines = output.stdout.lines().filter(|line| !line.starts_with("  "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let [name, failed, sum] =
        ["guard  1 passed, 1 failed", "FAIL tests/b.json", "1 passed, 1 failed"];
    assert_eq!(lines_of(&[]), [name, failed, sum]);
    assert_eq!(lines_of(&["--verbose"]), [name, "pass tests/a.json", failed, sum]);
}

#[test]
fn a_sample_a_payload_and_an_event_each_run_the_hook_once() {
    let sandbox = sandbox();
    let hook = manifest(
        &user_hooks(&sandbox),
        "guard",
        "trigger: before_tool\nmatcher: {tool: WriteFile}",
        GUARD,
    );
    test(&hook, "a.json", &json!({"expect": {"decision": "deny"}}));
    let once = |args: &[&str]| {
        sandbox.run([&["hooks", "test", "guard", "--json"], args].concat()).expect_code(0)
    };
    let sample = once(&["--sample"]);
    assert_eq!(sample.json()["payload"]["tool_name"], "bash");
    assert_eq!(sample.json()["decision"], "unmatched");
    assert_eq!(once(&["--event", "pre-tool-call"]).json()["decision"], "unmatched");
    sandbox.write("p", "{\"event_type\": \"before_tool\", \"tool_name\": \"WriteFile\", \"tool_input\": {\"x\": \"rm -rf\"}}");
    let payload = once(&["--payload", "p"]);
    assert_eq!([&payload.json()["decision"], &payload.json()["reason"]], ["deny", "too dangerous"]);
    assert!(payload.stderr.is_empty(), "{payload}");
}

#[test]
fn there_is_a_sample_of_every_event_for_hooks_without_tests() {
    let sandbox = sandbox();
    let events = "session_start before_agent after_agent subagent_start subagent_stop pre_compact post_compact session_end";
    for event in events.split(' ') {
        let name = event.replace('_', "-");
        manifest(&user_hooks(&sandbox), &name, &format!("trigger: {event}"), "cat >&2; echo told");
        let result = sandbox.run(["hooks", "test", &name, "--json"]).expect_code(0).json();
        assert_eq!([&result["decision"], &result["payload"]["event_type"]], ["none", event]);
        assert_eq!(result["notes"], json!(["printed: told"]), "{result}");
    }
}

#[test]
fn a_test_may_use_another_trigger_of_the_hook() {
    let sandbox = sandbox();
    let front = "trigger: after_tool\nmetadata: {triggers: [after_tool_failure]}";
    let hook = manifest(&user_hooks(&sandbox), "log", front, "echo \"$TENTER_EVENT\"");
    test(&hook, "first.json", &json!({"expect": {"stdout": "after_tool\n"}}));
    test(
        &hook,
        "second.json",
        &json!({"event": {"event_type": "after_tool_failure"}, "expect": {"stdout": "after_tool_failure\n"}}),
    );
    let output = sandbox.run("hooks test log").expect_code(0);
    assert!(output.stdout.ends_with("2 passed, 0 failed\n"), "{output}");
}
