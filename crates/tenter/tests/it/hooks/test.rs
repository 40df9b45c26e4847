//! `tenter hooks test`: what is shown of a hook's one run.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter_testkit::{Output, Sandbox, assert_fields, wait_until};

use super::{SILENT, manifest, user_hooks};
use crate::{sandbox, send_signal};

/// Tests a hook that does `body` at `event` with the sample. Returns the result and the exit code.
fn tried(event: &str, body: &str) -> (Value, Option<i32>) {
    let sandbox = sandbox();
    sandbox.sh_hook("it", event, body);
    let output = sandbox.run("hooks test it --json");
    (output.json(), output.code)
}

#[test]
fn a_block_is_shown_with_payload_and_reply() {
    let sandbox = sandbox();
    sandbox.sh_hook(
        "guard",
        "before_tool_call",
        "echo looked >&2\necho '{\"blocked\": true, \"reason\": \"no listing\"}'",
    );
    assert_snapshot!(sandbox.run("hooks test guard"), @r#"
    exit: 0
    --- stdout
    guard at before_tool_call (~/.kodelet/hooks/guard)
    stdin
      {"event": "before_tool_call", "conv_id": "[ID]", "tool_name": "bash", "tool_input": {"command": "ls -la"}, "tool_user_id": "call_1", "cwd": "[ROOT]/project", "invoked_by": "main", "timestamp": "[TIME]", "protocol_version": 1, "host": {"name": "tenter"}, "tool_aliases": ["Bash", "Shell", "shell", "run_shell_command", "run_terminal_cmd", "run_in_terminal", "execute_command", "run_command", "exec_command", "local_shell", "Execute", "run_commands", "developer__shell"], "commands": [{"program": "ls", "flags": ["-l", "-a"], "args": ["-la"], "cwd": "[ROOT]/project", "text": "ls -la", "where": "local"}], "paths": [{"path": "[ROOT]/project", "given": ".", "op": "list", "place": "project", "inside_project": true, "command": 0, "certain": true}]}
    stdout
      {"blocked": true, "reason": "no listing"}
    stderr
      looked
    ended exit 0 after [N] ms
    decision deny: it is blocked
      reason no listing
    "#);
}

#[test]
fn the_json_form_has_every_field() {
    let (result, code) = tried(
        "before_tool_call",
        "echo looked >&2\necho '{\"input\": {\"command\": \"ls\"}, \"additional_context\": \"c\"}'",
    );
    assert_eq!(code, Some(0));
    let keys: Vec<&str> = result.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "hook",
        "event",
        "payload",
        "exit",
        "duration_ms",
        "stdout",
        "stderr",
        "decision",
        "reason",
        "rewrite",
        "context",
        "follow_ups",
        "history",
        "error",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        [&result["hook"], &result["event"], &result["exit"], &result["stderr"]],
        ["it", "before_tool_call", "exit 0", "looked\n"]
    );
    assert_eq!(result["payload"]["tool_input"], json!({"command": "ls -la"}));
    assert_eq!(
        result["stdout"],
        "{\"input\": {\"command\": \"ls\"}, \"additional_context\": \"c\"}\n"
    );
    assert_eq!(
        result["rewrite"],
        json!({"before": {"command": "ls -la"}, "after": {"command": "ls"}})
    );
    assert_eq!([&result["decision"], &result["context"]], ["rewrite", "c"]);
}

#[test]
fn ineffective_parts_of_a_reply_are_shown() {
    let (result, code) =
        tried("before_tool_call", "echo '{\"blocked\": \"yes\", \"reson\": \"x\"}'");
    assert_eq!((&result["decision"], code), (&json!("none"), Some(0)));
    assert_eq!(
        result["notes"],
        json!([
            "its reply has no field \"reson\"; did you mean \"reason\"?",
            "\"blocked\" must be true or false"
        ])
    );
}

#[test]
fn failures_are_shown_with_their_reason() {
    let (result, code) = tried("before_tool_call", "exit 3");
    assert_eq!(code, Some(1));
    assert_eq!([&result["decision"], &result["exit"]], ["failed", "exit 3"]);
    assert!(result["error"].as_str().unwrap().contains("exited with code 3"), "{result}");
    let (result, code) = tried("after_tool_call", "echo '{\"output\": {\"success\": \"no\"}}'");
    assert_eq!(code, Some(1));
    assert!(
        result["error"].as_str().unwrap().starts_with("its rewrite cannot be used"),
        "{result}"
    );
}

#[test]
fn a_hook_that_times_out_keeps_its_output() {
    let sandbox = sandbox();
    sandbox.configure("[hooks]\ntimeout_ms = 300\nfail = \"closed\"\n");
    sandbox.sh_hook("slow", "before_tool_call", "echo waiting >&2\nexec sleep 60");
    let result = sandbox.run("hooks test slow --json").expect_code(1).json();
    assert_eq!(
        [&result["exit"], &result["error"], &result["stderr"]],
        ["timed out", "timed out after 300 ms", "waiting\n"]
    );
    let message = sandbox.run("hooks test slow").expect_code(1);
    assert!(
        message.stdout.ends_with("an agent would block: the hook is set to fail closed\n"),
        "{message}"
    );
}

#[test]
fn control_characters_are_removed_and_reported() {
    let sandbox = sandbox();
    let body = "printf '\\033[31mred\\033[0m\\n' >&2\nprintf '{\"blocked\": true, \"reason\": \"\\\\u001b[2Jgone\"}'";
    sandbox.sh_hook("loud", "before_tool_call", body);
    let output = sandbox.run("hooks test loud").expect_code(0);
    assert!(!output.stdout.contains('\x1b'), "{output}");
    assert!(output.stdout.contains("stderr (without its control characters)\n  red\n"), "{output}");
    assert!(output.stdout.contains("reason gone\n"), "{output}");
}

/// Adds a hook that answers with the payload as it got it.
fn echoing(sandbox: &Sandbox) {
    sandbox.sh_hook("echo", "before_tool_call\nafter_tool_call", "printf '%s\\n' \"$payload\" >&2");
}

#[test]
fn a_given_payload_is_passed_on_with_protocol_separators() {
    let sandbox = sandbox();
    echoing(&sandbox);
    let payload = "{\"z\":1.50,\n \"event\":\"before_tool_call\",\"a\":[1,{\"k\":\"ü\\n\"}],\"conv_id\":\"c\"}";
    let parts = [
        "{\"event\": \"before_tool_call\", \"conv_id\": \"c\", ",
        ", \"z\": 1.50, \"a\": [1, {\"k\": \"ü\\n\"}]}\n",
    ];
    let has_all = |output: Output| {
        let message = output.expect_code(0).json()["stderr"].as_str().unwrap().to_owned();
        assert!(message.starts_with(parts[0]) && message.ends_with(parts[1]), "{message}");
    };
    let piped = sandbox.run_with_stdin("hooks test echo --json --payload -", payload);
    has_all(piped);
    let file = sandbox.write("payload.json", payload);
    for name in ["payload.json", &file.to_string_lossy()] {
        has_all(sandbox.run(["hooks", "test", "echo", "--json", "--payload", name]));
    }
}

#[test]
fn a_partial_payload_is_completed_from_the_sample_of_the_hooks_only_event() {
    let sandbox = sandbox();
    sandbox.sh_hook("one", "before_tool_call", "printf '%s\\n' \"$payload\" >&2");
    sandbox.write("p", "{\"tool_input\": {\"command\": \"rm -rf /\"}}");
    let result = sandbox.run("hooks test one --json --payload p").expect_code(0);
    let message: Value = serde_json::from_str(result.json()["stderr"].as_str().unwrap()).unwrap();
    assert_eq!(message["event"], "before_tool_call");
    assert_fields(&message, &json!({"tool_name": "bash", "tool_input": {"command": "rm -rf /"}}));
    sandbox.write("p", "{\"tool_name\": \"Write\", \"tool_input\": {\"file_path\": \"a.txt\"}}");
    let result = sandbox.run("hooks test one --json --payload p").expect_code(0);
    assert_eq!(result.json()["payload"]["paths"][0]["given"], "a.txt");
}

#[test]
fn a_hook_whose_matcher_does_not_match_is_not_run() {
    let sandbox = sandbox();
    let front = "trigger: before_tool\nmatcher: {tool: ^Shell$, pattern: ^rm}";
    manifest(&user_hooks(&sandbox), "guard", front, "touch ran; exit 2");
    sandbox.write("ls", "{\"tool_input\": {\"command\": \"ls\"}}");
    sandbox.write("rm", "{\"tool_name\": \"bash\", \"tool_input\": {\"command\": \"rm x\"}}");
    let test = |payload| sandbox.run(["hooks", "test", "guard", "--json", "--payload", payload]);
    let unmatched = test("ls").expect_code(0).json();
    assert_fields(&unmatched, &json!({"decision": "unmatched", "exit": "not run"}));
    sandbox.prints("hooks test guard --payload ls", "decision unmatched");
    sandbox.warns("hooks test guard", "--payload FILE");
    assert!(!sandbox.project().join("ran").exists());
    let output = test("rm").expect_code(0).json();
    assert_eq!(output["decision"], "deny");
    // It reads the name that its matcher matched, as in a run.
    assert_eq!(output["payload"]["tool_name"], "Shell");
}

#[test]
fn a_test_an_explanation_and_a_run_agree_on_whether_a_hook_runs() {
    let front =
        "trigger: session_start\nmatcher: {pattern: ^rm}\nmetadata: {triggers: [before_tool]}";
    for (command, runs) in [("ls", false), ("rm x", true)] {
        let sandbox = sandbox();
        manifest(&user_hooks(&sandbox), "guard", front, "echo \"$TENTER_EVENT\" >> events");
        let input = json!({"command": command});
        let payload = json!({"event_type": "before_tool", "tool_input": input});
        sandbox.write("p", payload.to_string());
        let output = sandbox.run("hooks test guard --json --payload p").json();
        assert_eq!(output["decision"] != "unmatched", runs, "{output}");
        let explain = ["hooks", "explain", "--json", "--event", "before_tool", "--tool", "bash"];
        let explained = sandbox.run([&explain[..], &["--input", &input.to_string()]].concat());
        assert_eq!(explained.json()[0]["verdict"] == "runs", runs, "{explained}");
        let _ = fs::remove_file(sandbox.project().join("events"));
        let call = json!([{"name": "bash", "input": input}]);
        let run =
            sandbox.play(&format!("turns:\n  - tool_calls: {call}\n  - text: Done.\n"), &["go"]);
        assert_eq!(run.code, Some(0), "{run}");
        let expected = if runs { "session_start\nbefore_tool\n" } else { "session_start\n" };
        assert_eq!(sandbox.read("events"), expected);
    }
}

#[test]
fn an_override_of_the_user_gives_one_executable_a_key_and_no_other() {
    let sandbox = sandbox();
    let print = "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call && exit\ncat >/dev/null; printf '%s' \"$OPENAI_API_KEY\" >&2\n";
    sandbox.user_hook("asks", print);
    sandbox.user_hook("other", print);
    let key = |hook: &str| {
        let vars = [("OPENAI_API_KEY", "sk-of-ada")];
        let output = sandbox.run_with_env(&vars, ["hooks", "test", hook, "--json"]);
        output.expect_code(0).json()["stderr"].as_str().unwrap().to_owned()
    };
    let give = "[[hooks.override]]\nname = \"asks\"\nenv = [\"OPENAI_API_KEY\"]\n";
    sandbox.write(".kodelet/hooks/hooks.toml", give);
    assert_eq!(key("asks"), "", "a project gives no key");
    for file in ["../home/.kodelet/hooks/hooks.toml", "../home/.config/tenter/config.toml"] {
        let path = sandbox.write(file, give);
        assert_eq!([key("asks"), key("other")], ["sk-of-ada".to_owned(), String::new()], "{file}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn the_event_is_taken_from_the_payload_or_the_option() {
    let sandbox = sandbox();
    echoing(&sandbox);
    let test = |args: &[&str]| {
        sandbox.run([&["hooks", "test", "echo", "--json"], args].concat()).expect_code(0).json()
    };
    assert_eq!(test(&[])["event"], "before_tool_call");
    assert_eq!(test(&["--event", "post-tool-call"])["payload"]["tool_output"]["success"], true);
    assert_eq!(
        test(&["--event", "after_tool_failure"])["payload"]["tool_output"]["success"],
        false
    );
    sandbox.write("p", "{\"event\": \"after_tool_call\"}");
    assert_eq!(test(&["--payload", "p"])["event"], "after_tool_call");
    assert_snapshot!(sandbox.run("hooks test echo --event agent_stop"), @"
    exit: 2
    --- stderr
    error: the hook echo does not subscribe to agent_stop
      help: it subscribes to before_tool_call, after_tool_call
    ");
    sandbox.warns("hooks test echo", "tenter hooks test echo --event after_tool_failure");
}

#[test]
fn an_invalid_payload_is_rejected() {
    let sandbox = sandbox();
    echoing(&sandbox);
    for (payload, why) in [
        ("{", "the payload in stdin is not JSON: it ends too early at line 1, column 1"),
        ("", "is not JSON: it ends too early"),
        ("[1]", "is not a JSON object, but other JSON"),
        ("{} x", "is not JSON: syntax error at line 1, column 4"),
        ("{bad}", "is not JSON: syntax error at line 1, column 2"),
        ("{}", "names no event"),
        ("{\"event\": \"xyz\"}", "there is no event \"xyz\""),
        ("{\"event\": \"agent_stop\"}", "the hook echo does not subscribe to agent_stop"),
    ] {
        let output = sandbox.run_with_stdin("hooks test echo --payload -", payload).expect_code(2);
        assert!(output.stderr.contains(why) && output.stdout.is_empty(), "{payload}: {output}");
    }
    assert_eq!(sandbox.run("hooks test echo --payload missing").code, Some(2));
}

#[test]
fn a_hook_that_is_not_trusted_is_not_run() {
    let sandbox = sandbox();
    sandbox.hook("guard", "#!/bin/sh\ntouch ran\n");
    assert_snapshot!(sandbox.run("hooks test guard"), @"
    exit: 4
    --- stderr
    error: the hook guard is not trusted, so it was not run
      help: review it with `tenter hooks show`, then trust it with `tenter trust` or --trust
    ");
    sandbox.user_hook("guard", SILENT);
    assert_eq!(
        sandbox.run("hooks test guard").code,
        Some(4),
        "another one of the same name is not used instead"
    );
    assert!(!sandbox.project().join("ran").exists());
}

#[test]
fn hooks_that_do_not_run_are_reported_with_the_reason() {
    let sandbox = sandbox();
    sandbox.user_hook("old.disable", SILENT);
    sandbox.user_hook("typo", "#!/bin/sh\necho xyz\n");
    assert_snapshot!(sandbox.run("hooks test old"), @"
    exit: 1
    --- stderr
    error: the hook old is disabled: its file's name ends in .disable
    ");
    assert_snapshot!(sandbox.run("hooks test typo"), @r#"
    exit: 1
    --- stderr
    error: the hook typo printed "xyz" instead of an event when it was asked `hook`; the events are user_message_send, before_tool_call, after_tool_call, after_turn, turn_end, agent_stop
    "#);
}

#[test]
fn an_invalid_hook_does_not_hide_the_one_that_runs_instead() {
    let sandbox = sandbox();
    sandbox.write(".kodelet/hooks/guard", "not executable");
    sandbox.user_hook("guard", SILENT);
    let output = sandbox.run("hooks test guard").expect_code(0);
    assert!(
        output.stdout.starts_with("guard at before_tool_call (~/.kodelet/hooks/guard)\n"),
        "{output}"
    );
}

#[test]
fn ctrl_c_terminates_the_hook_under_test() {
    let sandbox = sandbox();
    sandbox.sh_hook("slow", "before_tool_call", "sleep 60 &\necho $! > pid\nwait");
    let child = sandbox.start("hooks test slow --json");
    wait_until("the hook runs", || {
        sandbox.project().join("pid").metadata().is_ok_and(|file| file.len() > 0)
    });
    assert!(send_signal("INT", child.id()));
    let output = sandbox.finish(child).expect_code(130);
    assert_eq!(output.json()["exit"], "cancelled");
    let sleeper = sandbox.read("pid");
    wait_until("the hook's own child is gone", || !send_signal("0", sleeper.trim()));
}

/// Returns a hook whose rule stops force pushes, with these examples.
fn rule_with_examples(stops: &str, passes: &str) -> Sandbox {
    let sandbox = sandbox();
    let front = format!(
        "name: pushes\ndescription: x\ntrigger: before_tool\nmetadata:\n  match:\n    - name: force\n      program: git\n      \
         flags: {{any: [--force]}}\n      decision: deny\n      reason: No.\n      examples: {{stopped: {stops}, passed: {passes}}}\n"
    );
    sandbox.write("../home/.config/agents/hooks/pushes/HOOK.md", format!("---\n{front}---\n"));
    sandbox
}

#[test]
fn the_examples_of_rules_are_tests() {
    let sandbox = rule_with_examples("[git push --force]", "[git push, echo git push --force]");
    let output = sandbox.run("hooks test pushes").expect_code(0);
    assert_eq!(
        output.stdout,
        "pass force  stopped: git push --force\npass force  passed: git push\npass force  passed: echo git push --force\n\
         3 passed, 0 failed\n"
    );
}

#[test]
fn an_example_that_does_not_hold_fails_the_test() {
    let sandbox = rule_with_examples("[git push]", "[git push --force]");
    let output = sandbox.run("hooks test pushes").expect_code(1);
    assert!(output.stdout.contains("FAIL force  stopped: git push\n"), "{output}");
    assert!(output.stdout.contains("force stops this example"), "{output}");
    let results = sandbox.run("hooks test pushes --json").expect_code(1).json();
    assert_fields(&results[0], &json!({"passed": false, "example": "git push"}));
}
