//! Hooks without code: a `HOOK.md` with an action, in real sessions and in every command for hooks.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::json;
use tenter_protocol::lifecycle::TABLE;
use tenter_protocol::manifest::actions_at;
use tenter_testkit::Sandbox;

use super::{DIRECTORY, bash};
use crate::sandbox;

/// Writes a user hook: its trigger and more front matter, and the lines below `metadata`.
fn declared(sandbox: &Sandbox, name: &str, front: &str, lines: &[&str]) -> PathBuf {
    let directory = sandbox.home().join(DIRECTORY).join(name);
    fs::create_dir_all(&directory).unwrap();
    let lines = lines.join("\n  ");
    let front = format!("name: {name}\ndescription: A test.\n{front}\nmetadata:\n  {lines}");
    fs::write(directory.join("HOOK.md"), format!("---\n{front}\n---\n")).unwrap();
    directory
}

const NO_RM: &str = "trigger: before_tool\nmatcher: {tool: ^Shell$, pattern: rm -rf}";
const NO_RM_WHY: &str = "reason: \"`{{.tool_input.command}}` deletes too much\"";

#[test]
fn an_unknown_payload_field_is_an_error_in_validate_and_a_warning_in_a_run() {
    let sandbox = sandbox();
    let when = "when: and .tool_nmae .tool_input.anything";
    let reason = "reason: \"{{default .session.id 1}}\"";
    let directory =
        declared(&sandbox, "guard", "trigger: before_tool", &["action: deny", when, reason]);
    assert_snapshot!(sandbox.run(["hooks", "validate", directory.to_str().unwrap()]), @r#"
    exit: 1
    --- stderr
    error: [ROOT]/home/.config/agents/hooks/guard/HOOK.md:7:13: the payload of `before_tool` has no `tool_nmae`
      7 |   when: and .tool_nmae .tool_input.anything
                      ^^^^^^^^^^
      help: did you mean `tool_name`?
    error: [ROOT]/home/.config/agents/hooks/guard/HOOK.md:8:22: the payload of `before_tool` has no `session`
      8 |   reason: "{{default .session.id 1}}"
                               ^^^^^^^^^^^
      help: did you mean `session_id`?
    "#);
    let output = sandbox.play(&bash("touch ran", ""), &["Do it."]).expect_code(0);
    let message =
        "HOOK.md:7:13: the payload of `before_tool` has no `tool_nmae`; it counts as missing";
    assert!(output.stderr.contains(message), "{output}");
    assert!(sandbox.project().join("ran").exists());
}

#[test]
fn every_listing_marks_a_static_hook() {
    let sandbox = sandbox();
    let when = "when: not (eq .tool_input.command \"rm -rf build\")";
    declared(&sandbox, "no-rm", NO_RM, &["action: deny", NO_RM_WHY, when]);
    let list = sandbox.run("hooks list --json").expect_code(0).json();
    assert_eq!((&list[0]["protocol"], &list[0]["action"]), (&json!("static"), &json!("deny")));
    assert_eq!(list[0]["status"], "active");
    let output = sandbox.run("hooks show no-rm").expect_code(0);
    for line in [
        "action    deny",
        "when      not (eq .tool_input.command \"rm -rf build\")",
        "reason    `{{.tool_input.command}}` deletes too much",
        "script    none: a static hook",
    ] {
        assert!(output.stdout.contains(line), "{line}\n{output}");
    }
    let input = "{\"command\": \"rm -rf /\"}";
    let args = ["hooks", "explain", "--event", "before_tool", "--tool", "bash", "--input", input];
    let explained = sandbox.run(args).expect_code(0);
    let message = "it has no code and does `deny` where `not (eq .tool_input.command \"rm -rf build\")` holds";
    assert!(explained.stdout.contains(message), "{explained}");
    let well = sandbox.run("hooks doctor").expect_code(0);
    assert_eq!(well.stdout, "All is well: 1 hook is ready.\n");
}

#[test]
fn a_static_hook_is_tested_like_any_hook() {
    let sandbox = sandbox();
    let when = "when: ne .tool_input.command \"rm -rf build\"";
    let directory = declared(&sandbox, "no-rm", NO_RM, &["action: deny", NO_RM_WHY, when]);
    let payload = "{\"event_type\": \"before_tool\", \"tool_name\": \"Shell\", \"tool_input\": {\"command\": \"rm -rf /\"}}";
    let args = ["hooks", "test", "no-rm", "--payload", "-"];
    assert_snapshot!(sandbox.run_with_stdin(args, payload), @r#"
    exit: 0
    --- stdout
    no-rm at before_tool (~/.config/agents/hooks/no-rm)
    payload
      {"event_type": "before_tool", "timestamp": "[TIME]", "session_id": "[ID]", "work_dir": "[ROOT]/project", "context": {"invoked_by": "main", "protocol_version": 1}, "host": {"name": "tenter"}, "tool_name": "Shell", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "call_1", "tool_aliases": ["Bash", "Shell", "shell", "run_shell_command", "run_terminal_cmd", "run_in_terminal", "execute_command", "run_command", "exec_command", "local_shell", "Execute", "run_commands", "developer__shell"], "commands": [{"program": "rm", "flags": ["-r", "-f"], "operands": ["/"], "args": ["-rf", "/"], "cwd": "[ROOT]/project", "text": "rm -rf /", "where": "local"}], "paths": [{"path": "/", "given": "/", "op": "delete", "recursive": true, "place": "system", "inside_project": false, "command": 0, "certain": true}]}
    action
      deny
    decision deny: it is blocked
      reason `rm -rf /` deletes too much
    "#);
    for (name, command, expect) in [
        (
            "all",
            "rm -rf /",
            json!({"decision": "deny", "reason": "`rm -rf /` deletes", "exit": "no process", "stdout": ""}),
        ),
        ("build", "rm -rf build", json!({"decision": "none"})),
        ("other", "ls", json!({"decision": "unmatched"})),
    ] {
        let event = json!({"tool_name": "Shell", "tool_input": {"command": command}});
        fs::create_dir_all(directory.join("tests")).unwrap();
        let test = json!({"event": event, "expect": expect}).to_string();
        fs::write(directory.join(format!("tests/{name}.json")), test).unwrap();
    }
    let output = sandbox.run("hooks test no-rm").expect_code(0);
    assert!(output.stdout.ends_with("3 passed, 0 failed\n"), "{output}");
}

#[test]
fn every_static_hook_template_is_valid_and_passes_its_tests() {
    let sandbox = sandbox();
    let rows = TABLE.iter().map(|row| (row.name, actions_at(row.event)));
    let possible: Vec<(&str, &str)> =
        rows.flat_map(|(event, actions)| actions.into_iter().map(move |it| (event, it))).collect();
    for (event, action) in &possible {
        let name = format!("{}-{action}", event.replace('_', "-"));
        let args = ["hooks", "new", &name, "--event", event, "--action", action];
        let _ = sandbox.run(args).expect_code(0);
    }
    let args = ["hooks", "new", "x", "--event", "session_end", "--action", "callback"];
    sandbox.fails(2, args, "`callback` is not possible at session_end");
    let test_output = sandbox.run("hooks test --all").expect_code(0);
    assert!(test_output.stdout.ends_with("58 passed, 0 failed\n"), "{test_output}");
    let valid = sandbox.run("hooks validate --strict .agents/hooks").expect_code(0);
    assert_eq!((valid.stdout.lines().count(), possible.len()), (29, 29), "{valid}");
}

#[test]
fn a_new_static_hook_reports_its_action_and_runs_only_as_written() {
    let sandbox = sandbox();
    let args = ["hooks", "new", "ship", "--event", "before_tool", "--action", "ask"];
    assert_snapshot!(sandbox.run(args), @"
    exit: 0
    --- stdout
    [ROOT]/project/.agents/hooks/ship
    --- stderr
    Test it: tenter hooks test ship
    After a change, test it again: you are asked whether to trust the change.
    ");
    assert_snapshot!(sandbox.read(".agents/hooks/ship/HOOK.md"), @r#"
    ---
    name: ship
    description: Acts on deployments.
    trigger: before_tool
    # Regular expressions for the tool's name and the strings of its input.
    matcher:
      tool: ^Shell$
      pattern: '\bdeploy\b'
    # 0 to 1000; a higher priority runs earlier.
    priority: 100
    metadata:
      # The action of the hook, which has no script.
      action: ask
      # The hook acts only if this is true: a condition like after `if` in a template.
      # when: eq .tool_name "Shell"
      # Texts are templates with the fields of the payload: `{{.session_id}}`, `{{.context.invoked_by}}`, ...
      reason: "`{{.tool_input.command}}` changes the live site"
    ---

    # ship

    Acts on deployments.

    `tenter hooks test ship --sample` shows a payload and the reply of the hook.
    "#);
    let manifest =
        sandbox.read(".agents/hooks/ship/HOOK.md").replace("action: ask", "action: allow");
    sandbox.write(".agents/hooks/ship/HOOK.md", manifest);
    let list = sandbox.run("hooks list --json").json();
    assert_eq!(list[0]["status"], "untrusted");
    for (args, told) in [
        (&["--format", "executable"][..], "a static hook is a manifest hook"),
        (&["--lang", "python"], "cannot be used with"),
        (&["--action", "explode"], "invalid value 'explode'"),
    ] {
        let mut all = vec!["hooks", "new", "other", "--action", "deny"];
        if args[0] == "--action" {
            all.truncate(3);
        }
        all.extend(args);
        sandbox.fails(2, &all, told);
    }
}
